// Chunk words: the messages of agents about chunks of inputs; input_chunks.h
// says what each of them means. Plain functions.
#ifndef DOGGED_RUNTIME_JOB_INPUTS_CHUNK_WORDS_H_
#define DOGGED_RUNTIME_JOB_INPUTS_CHUNK_WORDS_H_

#include <cstdint>
#include <vector>

#include "routing/transport/outbox.h"
#include "runtime/base/bytes.h"
#include "runtime/base/codec.h"
#include "runtime/base/ids.h"

namespace dogged {

// Kind in the envelope; between the kinds of jobs and of lending.
inline constexpr uint8_t kChunkKind = kFirstFreeKind + 19;

enum class ChunkWord : uint8_t {
  kWish = 1,
  kChunk = 2,
  kLent = 3,
  kComing = 4,
  kAbsent = 5,
  kKeep = 6,
  kHeld = 7,
};

// Positions of chunks, see ChunkLayout.
using ChunkPositions = std::vector<int64_t>;

Bytes EncodeChunkWord(ChunkWord word, const ChunkPositions& chunks);
// Positions that stand behind the word.
ChunkPositions DecodeChunkPositions(Decoder& in);
// Says `word` of `chunks`, if there are some.
void SendChunkWord(AgentId to, JobId job, ChunkWord word,
                   const ChunkPositions& chunks, Outbox& out);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_INPUTS_CHUNK_WORDS_H_

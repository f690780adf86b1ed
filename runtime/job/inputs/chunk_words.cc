#include "runtime/job/inputs/chunk_words.h"

namespace dogged {

Bytes EncodeChunkWord(ChunkWord word, const ChunkPositions& chunks) {
  Encoder out;
  out.PutU8(static_cast<uint8_t>(word));
  out.PutVarint(chunks.size());
  for (const int64_t at : chunks) out.PutSigned(at);
  return Bytes(out.Take());
}

ChunkPositions DecodeChunkPositions(Decoder& in) {
  ChunkPositions out;
  const int64_t count = in.GetCount(1);
  for (int64_t i = 0; i < count && in.ok(); ++i) out.push_back(in.GetSigned());
  return out;
}

void SendChunkWord(AgentId to, JobId job, ChunkWord word,
                   const ChunkPositions& chunks, Outbox& out) {
  if (chunks.empty()) return;
  out.Send(to, kChunkKind, job, EncodeChunkWord(word, chunks));
}

}  // namespace dogged

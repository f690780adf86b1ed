// ChunkPartners: the second agent that keeps each chunk that this one keeps.
// Without a client a chunk that only one agent had would end with that agent,
// so some other agent is asked to keep it, too; an agent that has read it comes
// first. The partner is sure once it has said that it has the chunk.
//
// A machine: no threads, clocks or sockets. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_INPUTS_CHUNK_PARTNERS_H_
#define DOGGED_RUNTIME_JOB_INPUTS_CHUNK_PARTNERS_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "routing/transport/outbox.h"
#include "runtime/base/ids.h"
#include "runtime/job/inputs/chunk_layout.h"
#include "runtime/job/inputs/chunk_words.h"
#include "runtime/job/inputs/held_chunks.h"

namespace dogged {

class ChunkPartners {
 public:
  ChunkPartners(AgentId self, JobId job, const ChunkLayout& layout,
                const HeldChunks& held)
      : self_(self), job_(job), held_(held), chunks_(layout.size()) {}
  ChunkPartners(const ChunkPartners&) = delete;
  ChunkPartners& operator=(const ChunkPartners&) = delete;

  // Asks `others`, which live, to keep chunks that have no partner.
  void FindPartners(const Pass& pass, absl::Span<const AgentId> others);
  // Some chunk may have no sure partner any more.
  void LookAgain() { are_all_sure_ = false; }
  void Doubt(int64_t at);
  // `partner` keeps the chunk, as this agent is to.
  void Set(int64_t at, AgentId partner);
  // `from` says that it keeps `chunks`.
  void NoteHeld(absl::Time now, AgentId from, const ChunkPositions& chunks);
  // The chunk was sent to `reader`.
  void NoteReader(int64_t at, AgentId reader);
  // This agent may be the only one that keeps some chunk.
  bool IsNeeded() const;

 private:
  struct Chunk {
    AgentId partner;  // keeps it too, or is asked to
    bool is_sure = false;
    AgentId reader;  // the last one that was sent it
  };
  Chunk& Find(int64_t at) { return chunks_[at]; }
  bool NeedsPartner(size_t at) const;

  const AgentId self_;
  const JobId job_;
  const HeldChunks& held_;
  std::vector<Chunk> chunks_;    // by position
  std::vector<AgentId> others_;  // when they were looked at last
  absl::Time next_try_ = absl::InfinitePast();
  bool are_all_sure_ = false;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_INPUTS_CHUNK_PARTNERS_H_

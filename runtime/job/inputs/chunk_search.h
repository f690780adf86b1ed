// ChunkSearch: the chunks that this agent looks for at others. Agents are asked
// for a chunk in turns until it comes; the number of open requests has a bound.
// A chunk that every agent has lacked for long, and that a task waits for, is
// lost: the job ends.
//
// A machine: no threads, clocks or sockets. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_INPUTS_CHUNK_SEARCH_H_
#define DOGGED_RUNTIME_JOB_INPUTS_CHUNK_SEARCH_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "routing/transport/outbox.h"
#include "runtime/base/ids.h"
#include "runtime/base/limits.h"
#include "runtime/job/inputs/chunk_giver.h"
#include "runtime/job/inputs/chunk_layout.h"
#include "runtime/job/inputs/chunk_readers.h"
#include "runtime/job/inputs/chunk_words.h"

namespace dogged {

class ChunkSearch {
 public:
  ChunkSearch(JobId job, const Limits& limits, const ChunkLayout& layout,
              const ChunkReaders& readers, const ChunkGiver& giver)
      : job_(job),
        limits_(limits),
        layout_(layout),
        readers_(readers),
        giver_(giver) {}
  ChunkSearch(const ChunkSearch&) = delete;
  ChunkSearch& operator=(const ChunkSearch&) = delete;

  void Begin(int64_t at) { searches_.try_emplace(at); }
  void End(int64_t at) { searches_.erase(at); }
  void EndAll() { searches_.clear(); }
  bool IsOpen(int64_t at) const { return searches_.contains(at); }
  // The job is over, or runs again: clients that want its results bring no
  // inputs, so nothing is waited for.
  void SetOver(bool is_over) { is_over_ = is_over; }
  // A client is there that has all inputs: nothing is lost.
  void EndForClient();
  // Asks `others`, which live, and keepers that may have left.
  void AskOthers(const Pass& pass, absl::Span<const AgentId> others);

  // `from` has sent a chunk.
  void NoteHeard(absl::Time now, AgentId from);
  // `agent` may have the chunk that is asked for next.
  void NoteLikely(AgentId agent) { likely_ = agent; }
  // `from` will send `chunks`; or lacks them.
  void NoteComing(absl::Time now, AgentId from, const ChunkPositions& chunks);
  void NoteAbsent(absl::Time now, AgentId from, const ChunkPositions& chunks);

  // See InputChunks.
  const absl::Status& lost() const { return lost_; }
  std::string Note() const;

 private:
  struct Search {
    AgentId asked;  // none: nobody is, now
    absl::Time asked_at = absl::InfinitePast();
    int tries = 0;           // of agents of the view
    int giver_tries = 0;     // of an agent that asked this one to keep it
    bool is_coming = false;  // said so by `asked`
    // When it was first missed, or last said to come.
    absl::Time since = absl::InfiniteFuture();
    std::map<AgentId, absl::Time> absent;
  };

  // Until then the agent that was asked may yet send it.
  absl::Time PatienceEnd(const Search& search) const;
  // None if all have said that they lack it.
  AgentId Candidate(absl::Time now, int64_t at, const Search& search,
                    absl::Span<const AgentId> others) const;
  void NoteLost(absl::Time now, int64_t at, const Search& search);

  const JobId job_;
  const Limits& limits_;
  const ChunkLayout& layout_;
  const ChunkReaders& readers_;
  const ChunkGiver& giver_;
  std::map<int64_t, Search> searches_;
  std::map<AgentId, absl::Time> heard_;
  AgentId likely_;               // had the last one that was asked for
  bool is_nobody_left_ = false;  // for one of them, now
  bool is_over_ = false;
  absl::Status lost_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_INPUTS_CHUNK_SEARCH_H_

// InputChunks: one agent's part in keeping the large inputs of one job. The job
// has the digests of their chunks; the chunks go to those whose tasks read
// them, from any agent that has them.
//
// The agent that took the submission is its *keeper*: the client supplies it
// with all chunks, and it keeps them for others. As long as a client is there,
// an agent that reads a chunk need not keep it: the client has it, too. Without
// one each chunk that is kept has a *partner*, an agent that keeps it as well.
//
//   wish    I need these chunks          -> chunk or lent, coming, or absent
//   chunk   here is one; lent: here it lies
//   coming  my client has these: they follow
//   absent  I don't have these
//   keep    keep these, as I do          -> held, once it has them
//   held    I keep these
//
// All of them are hints that may be lost, doubled or late. A chunk that came is
// compared with its digest. The parts stand in runtime/job/inputs; this class
// wires them, and brings chunks here that one of them misses.
//
// A machine: no threads, clocks or sockets. Used by one thread; source() by
// all.
#ifndef DOGGED_RUNTIME_JOB_INPUTS_INPUT_CHUNKS_H_
#define DOGGED_RUNTIME_JOB_INPUTS_INPUT_CHUNKS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "kvstore/lending/lending.h"
#include "kvstore/storage/value_store.h"
#include "routing/transport/outbox.h"
#include "runtime/base/ids.h"
#include "runtime/base/limits.h"
#include "runtime/graph/input_array.h"
#include "runtime/graph/job.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/task.h"
#include "runtime/job/inputs/chunk_giver.h"
#include "runtime/job/inputs/chunk_layout.h"
#include "runtime/job/inputs/chunk_partners.h"
#include "runtime/job/inputs/chunk_readers.h"
#include "runtime/job/inputs/chunk_search.h"
#include "runtime/job/inputs/chunk_supply.h"
#include "runtime/job/inputs/chunk_words.h"
#include "runtime/job/inputs/held_chunks.h"

namespace dogged {

class InputChunks {
 public:
  static constexpr uint8_t kKind = kChunkKind;  // of the envelope
  static constexpr int32_t kArrayOnDisk = ChunkLayout::kArrayOnDisk;

  struct Options {
    AgentId self;
    JobId id;
    Digest hash;
    Limits limits;
    int64_t memory_bytes_max = 0;  // of all values of this process; 0: no bound
    ValueStore* store = nullptr;   // null: no disk
    bool keeps_values = false;     // chunks kept are to outlive this process
    Lending* lending = nullptr;    // null: bytes travel
  };
  struct Counts {
    int64_t received_bytes = 0;  // from agents, also by loan
    // That clients have given or need not give, as far as they are safe: on
    // disk, where the agent has a directory.
    int64_t supplied_bytes = 0;
    int64_t read_bytes = 0;  // by tasks that began to wait for them here
  };

  // The inputs of `job`, which has some in chunks.
  InputChunks(Options options, const Job& job);
  InputChunks(const InputChunks&) = delete;
  InputChunks& operator=(const InputChunks&) = delete;

  static bool IsNeededFor(const Job& job);
  std::shared_ptr<const ChunkSource> source() const { return held_.source(); }

  // --- tasks
  // All that `task` reads is at hand, and stays until Unpin(). Else it will be:
  // TakeReady() says when.
  bool Pin(const Task& task, const Kernel& kernel);
  void Unpin(const Task& task);
  std::vector<Task> TakeReady() { return readers_.TakeReady(); }
  // More tasks may wait: those that do have not asked for too much.
  bool HasRoom() const {
    return readers_.awaited_bytes() < options_.limits.input_ahead_bytes;
  }

  // --- the client
  // A client is there that has all inputs, or none any more.
  void SetSupplier(bool is_there);
  // Takes chunks that are in memory here for another job and that this one has,
  // too, by their digests: a client need not supply them, and they share their
  // memory.
  void Adopt(const InputChunks& other);
  // The chunks that it is to supply next.
  std::vector<ChunkId> TakeWishes() { return supply_.TakeWishes(); }
  // Errors: kInvalidArgument for no chunk of an input; kFailedPrecondition for
  //         bytes that are not this chunk.
  absl::Status Supply(const ChunkId& chunk, absl::string_view bytes);

  // --- others
  // Errors: kInvalidArgument for a malformed message, which changes nothing.
  absl::Status Receive(const Pass& pass, AgentId from, absl::string_view body);
  // The answer to a message for a job that is not here; empty if there is none.
  static Bytes AnswerWithout(absl::string_view body);
  void Tick(const Pass& pass, absl::Span<const AgentId> others);
  // Takes leave: other agents are to keep the chunks that this one keeps.
  void HandOver() { is_leaving_ = true; }
  bool HasToStay() const { return partners_.IsNeeded(); }
  void OnDisk(const ValueStore::Event& event);
  // Copies chunks that lie in the arena of an owner that has gone.
  void CopyOrphans() { held_.CopyOrphans(); }
  // The job is over, and stays for its results; or it runs again.
  void SetOver(bool is_over) { search_.SetOver(is_over); }
  // The job has ended: chunks that no task uses go, if it `drops` them; else
  // other jobs may adopt them for as long as this is there.
  void Release(bool drops);

  // OK; or the reason for which the job ends, or results of one that is over
  // are not made again: no agent has had, for long, a chunk that a task waits
  // for.
  const absl::Status& lost() const { return search_.lost(); }
  // Says that tasks wait for what no agent has, for people; else empty.
  std::string Note() const { return search_.Note(); }
  Counts counts() const;
  int64_t held_count() const { return held_.count(); }
  int64_t held_bytes() const { return held_.bytes(); }  // in memory

 private:
  // Has the chunk brought here, from disk, the client or others.
  void Want(int64_t at);
  void Arrived(int64_t at);
  absl::Status ReceiveBytes(absl::Time now, AgentId from, Decoder& in,
                            bool is_lent);

  const Options options_;
  // Each uses those above it, and none below.
  const ChunkLayout layout_;  // which chunks there are
  HeldChunks held_;           // chunks in memory and on disk
  ChunkReaders readers_;      // tasks that need chunks
  ChunkSupply supply_;        // from the client
  ChunkPartners partners_;    // a second agent for each that is kept
  ChunkGiver giver_;          // to others
  ChunkSearch search_;        // from others
  bool is_leaving_ = false;   // by HandOver()
  int64_t received_bytes_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_INPUTS_INPUT_CHUNKS_H_

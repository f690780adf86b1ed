// InputChunks: an agent's part in keeping the large inputs of a job. The job
// has the digests of their chunks; chunks travel from agents that have them to
// agents whose tasks read them.
//
// The agent that took the submission is its *keeper*: the client supplies it
// with all chunks, and it keeps them for all agents. As long as a client is
// there, a reader of a chunk need not keep it: the client has it, too. Without
// a client each kept chunk has a *partner*, an agent that keeps it as well; an
// agent that has read the chunk is asked first.
//
//   wish    I need these chunks          -> chunk or lent, coming, or absent
//   chunk   here is one; lent: here it lies
//   coming  my client has these: they follow
//   absent  I don't have these
//   keep    keep these, as I do          -> held, once it has them
//   held    I keep these
//
// All are hints that may be lost, doubled or late. A chunk that came is
// compared with its digest. The bytes asked for are bounded, whatever is
// missing.
//
// A machine: no threads, clocks or sockets. Used by one thread; source() by
// all.
#ifndef DOGGED_RUNTIME_JOB_INPUT_CHUNKS_H_
#define DOGGED_RUNTIME_JOB_INPUT_CHUNKS_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
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

namespace dogged {

// Chunks at hand. Thread-safe.
class ChunkTable;

class InputChunks {
 public:
  // Kind in the envelope; between the kinds of jobs and of lending.
  static constexpr uint8_t kKind = kFirstFreeKind + 19;
  // `label.array` of a chunk's record on disk; of no label of a program.
  static constexpr int32_t kArrayOnDisk = -1;

  struct Options {
    AgentId self;
    JobId id;
    Digest hash;
    Limits limits;
    int64_t memory_bytes_max = 0;  // of all values of this process; 0: no bound
    ValueStore* store = nullptr;   // null: no disk
    Lending* lending = nullptr;    // null: bytes travel
  };
  struct Counts {
    int64_t received_bytes = 0;  // from agents, also by loan
    int64_t supplied_bytes = 0;  // of clients
    int64_t read_bytes = 0;      // by tasks that began to wait for them here
  };

  // The inputs of `job`, which has some in chunks.
  InputChunks(Options options, const Job& job);
  ~InputChunks();
  InputChunks(const InputChunks&) = delete;
  InputChunks& operator=(const InputChunks&) = delete;

  static bool IsNeededFor(const Job& job);
  std::shared_ptr<const ChunkSource> source() const;

  // --- tasks
  // All that `task` reads is at hand, and stays until Unpin(). Else it will be:
  // TakeReady() says when.
  bool Pin(const Task& task, const Kernel& kernel);
  void Unpin(const Task& task);
  std::vector<Task> TakeReady();
  // More tasks may wait: the bytes that waiting tasks have asked for are not
  // too many.
  bool HasRoom() const { return awaited_bytes_ < limits_.input_ahead_bytes; }

  // --- the client
  // A client with all inputs is there, or none any more.
  void SetSupplier(bool is_there);
  // Chunks that the client is to supply next.
  std::vector<ChunkId> TakeWishes();
  // Errors: kInvalidArgument for bytes that are not this chunk.
  absl::Status Supply(const ChunkId& chunk, absl::string_view bytes);

  // --- others
  // Errors: kInvalidArgument for a malformed message, which changes nothing.
  absl::Status Receive(absl::Time now, AgentId from, absl::string_view body,
                       Outbox& out);
  // The answer to a message for a job that is not here; empty if there is none.
  static Bytes AnswerWithout(absl::string_view body);
  void Tick(absl::Time now, absl::Span<const AgentId> others, Outbox& out);
  // Takes leave: other agents are to keep the chunks that this one keeps.
  void HandOver() { is_leaving_ = true; }
  bool HasToStay() const;
  void OnDisk(const ValueStore::Event& event);
  // Copies chunks that lie in the arena of an owner that has gone.
  void CopyOrphans();
  // The job has ended: drops chunks that no task uses.
  void Release();

  // OK; or the reason for which the job ends: no agent has had, for long, a
  // chunk that a task waits for.
  const absl::Status& lost() const { return lost_; }
  // The inputs that tasks wait for, in words for people; empty if none waits.
  std::string Note() const;
  const Counts& counts() const { return counts_; }
  int64_t held_count() const { return held_count_; }

 private:
  struct Chunk {
    Digest digest;
    ChunkId id;
    int32_t pins = 0;
    bool is_held = false;     // in memory, see the table
    bool is_on_disk = false;  // written, or being so
    bool is_written = false;
    bool is_loading = false;
    bool is_kept = false;  // for others
    AgentId partner;       // keeps it too, or is asked to
    bool is_partner_sure = false;
    AgentId reader;  // the last one that was sent it
  };
  // Search: a chunk that is asked for and has not come.
  struct Search {
    AgentId asked;  // none: nobody is, now
    absl::Time asked_at = absl::InfinitePast();
    int tries = 0;           // of agents of the view
    int giver_tries = 0;     // of an agent that asked this one to keep it
    bool is_coming = false;  // said so by `asked`
    // When it was first missed, or last said to come.
    absl::Time since = absl::InfiniteFuture();
    absl::btree_map<AgentId, absl::Time> absent;
  };
  struct Waiting {
    int64_t missing = 0;  // chunks
    std::vector<int64_t> chunks;
  };
  using Positions = std::vector<int64_t>;

  int64_t PositionOf(const ChunkId& id) const;
  int64_t BytesOf(const Chunk& chunk) const;
  bool IsHere(const Chunk& c) const { return c.is_held || c.is_written; }
  Value Held(const Chunk& chunk) const;
  // Has the chunk brought here, from disk, the client or others.
  void Want(int64_t at);
  void Hold(int64_t at, const Value& value);
  void Arrived(int64_t at);
  void Evict();
  void Load(Chunk& chunk);
  // Sends it if it is in memory.
  bool SendTo(AgentId to, int64_t at, Outbox& out);
  void AskOthers(absl::Time now, absl::Span<const AgentId> others, Outbox& out);
  // The agent asked may send the chunk until then.
  absl::Time PatienceEnd(const Search& search) const;
  // None if all have said that they lack it.
  AgentId Candidate(absl::Time now, int64_t at, const Search& search,
                    absl::Span<const AgentId> others) const;
  // An agent that asked this one to keep the chunk; none if none did.
  AgentId GiverOf(int64_t at) const;
  void NoteLost(absl::Time now, int64_t at, const Search& search);
  void FindPartners(absl::Time now, absl::Span<const AgentId> others,
                    Outbox& out);
  void ServeWaiters(Outbox& out);
  void Keep(Chunk& chunk, bool is_kept);
  void Drop(int64_t at);
  absl::Status ReceiveBytes(absl::Time now, AgentId from, Decoder& in,
                            bool is_lent);
  void ReceiveWish(AgentId from, const Positions& wanted, Outbox& out);
  void ReceiveKeep(AgentId from, const Positions& kept, Outbox& out);
  // Says `form` of these, if there are some.
  void Send(AgentId to, uint8_t form, const Positions& chunks,
            Outbox& out) const;
  static Label LabelOf(const ChunkId& id);
  // The value of a chunk, in memory of its own; none if `bytes` has another
  // size.
  Value ValueOf(const Chunk& chunk, absl::string_view bytes) const;

  const Options options_;
  const Limits& limits_;
  std::vector<std::string> names_;  // by input
  std::vector<ChunkGrid> grids_;    // by input
  std::vector<int64_t> first_;      // position of an input's first chunk
  std::vector<Chunk> chunks_;
  std::shared_ptr<ChunkTable> table_;
  std::deque<int64_t> resident_;  // in memory, oldest first
  int64_t held_bytes_ = 0;
  int64_t held_count_ = 0;
  int64_t loose_bytes_ = 0;  // of these, not kept: for the cache's bound

  absl::flat_hash_map<Task, Waiting> tasks_;  // pinned, or waiting
  absl::flat_hash_map<int64_t, std::vector<Task>> awaiting_;
  std::vector<Task> ready_;
  int64_t awaited_bytes_ = 0;

  absl::btree_map<int64_t, Search> searches_;
  bool is_nobody_left_ = false;  // for one of them, now
  AgentId likely_;               // had the last one that was asked for
  absl::btree_map<AgentId, absl::Time> heard_;
  // Agents to send chunks to that are on their way here: once each.
  absl::btree_map<int64_t, absl::btree_set<AgentId>> waiters_;
  absl::btree_map<int64_t, absl::btree_set<AgentId>> holders_wanted_;

  bool has_supplier_ = false;
  bool is_keeper_ = false;
  bool is_leaving_ = false;
  int64_t next_to_supply_ = 0;  // all before were requested
  absl::btree_set<int64_t> being_supplied_;
  std::deque<int64_t> supply_first_;
  int64_t supply_bytes_ = 0;  // requested
  absl::Time next_partners_ = absl::InfinitePast();
  bool are_all_partnered_ = false;
  std::vector<AgentId> partners_of_;  // the others, when they were looked at
  absl::Status lost_;
  Counts counts_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_INPUT_CHUNKS_H_

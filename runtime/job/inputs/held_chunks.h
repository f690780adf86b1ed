// HeldChunks: the chunks that are on this agent, in memory or on disk. Chunks
// that it keeps for others stay, and are written where memory is bounded; all
// others are a cache, of which the oldest go. A chunk in use stays in memory:
// a task reads it, or another agent waits for it.
//
// A machine: no threads, clocks or sockets. Used by one thread; source() by
// all.
#ifndef DOGGED_RUNTIME_JOB_INPUTS_HELD_CHUNKS_H_
#define DOGGED_RUNTIME_JOB_INPUTS_HELD_CHUNKS_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "kvstore/storage/value_store.h"
#include "runtime/base/hash.h"
#include "runtime/base/value.h"
#include "runtime/graph/input_array.h"
#include "runtime/graph/kernel.h"
#include "runtime/job/inputs/chunk_layout.h"

namespace dogged {

// Chunks at hand. Thread-safe.
class ChunkTable;

class HeldChunks {
 public:
  struct Options {
    Digest job;
    int64_t memory_bytes_max = 0;  // of all values of this process; 0: no bound
    int64_t cache_bytes = 0;       // of chunks that are not kept
    ValueStore* store = nullptr;   // null: no disk
    bool keeps_values = false;     // what is kept is to outlive this process
  };
  enum class DiskNews {
    kNone,
    kArrived,  // it is in memory now
    kLost,     // the disk does not have it after all
  };

  HeldChunks(const Options& options, const ChunkLayout& layout);
  ~HeldChunks();
  HeldChunks(const HeldChunks&) = delete;
  HeldChunks& operator=(const HeldChunks&) = delete;

  std::shared_ptr<const ChunkSource> source() const;
  int64_t count() const { return count_; }  // in memory
  int64_t bytes() const { return bytes_; }  // of these
  // Bytes of chunks that are to outlive this process, and do not yet.
  int64_t writing_bytes() const { return writing_bytes_; }
  bool IsHeld(int64_t at) const { return Find(at).is_held; }  // in memory
  bool IsWritten(int64_t at) const { return Find(at).is_written; }
  bool IsHere(int64_t at) const { return IsHeld(at) || IsWritten(at); }
  bool IsKept(int64_t at) const { return Find(at).is_kept; }  // for others
  Value ValueOf(int64_t at) const;  // none if it is not in memory

  void Hold(int64_t at, const Value& value);
  // Keeps a chunk for others, now or once it is here; or no longer.
  void Keep(int64_t at, bool is_kept);
  // The client came, which supplies all chunks; or went: of what this agent was
  // to keep it keeps what is here.
  void KeepForClient(bool is_there);
  // From disk; OnDisk() says when.
  void Load(int64_t at);
  // A chunk has a user more, or less: Evict() follows.
  void Pin(int64_t at) { ++Find(at).pins; }
  void Unpin(int64_t at) { --Find(at).pins; }
  // Other agents wait for it.
  void SetAwaited(int64_t at, bool is_awaited) {
    Find(at).is_awaited = is_awaited;
  }
  // Drops the oldest that are in no use, until the rest is within the bounds.
  void Evict();
  // So much is on its way to the disk that more should not come.
  bool IsDiskBehind() const;
  DiskNews OnDisk(int64_t at, const ValueStore::Event& event);
  // Copies chunks that lie in the arena of an owner that has gone.
  void CopyOrphans();
  // Keeps nothing for others, and, if it `drops`, only what tasks use.
  void Release(bool drops);

 private:
  struct Chunk {
    int32_t pins = 0;         // of tasks
    bool is_awaited = false;  // by other agents
    bool is_held = false;     // in memory, see the table
    bool is_on_disk = false;  // written, or being so
    bool is_written = false;
    bool is_loading = false;
    bool is_kept = false;
  };
  const Chunk& Find(int64_t at) const { return chunks_[at]; }
  Chunk& Find(int64_t at) { return chunks_[at]; }
  void Drop(int64_t at);

  const Options options_;
  const ChunkLayout& layout_;
  std::vector<Chunk> chunks_;  // by position
  std::shared_ptr<ChunkTable> table_;
  std::deque<int64_t> resident_;  // in memory, oldest first
  int64_t bytes_ = 0;
  int64_t count_ = 0;
  int64_t writing_bytes_ = 0;
  int64_t loose_bytes_ = 0;  // of these, not kept: for the cache's bound
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_INPUTS_HELD_CHUNKS_H_

// ValueSpill: the values of one job on their way between memory and disk. A
// value is written because the agent has a directory of its own and keeps there
// what it holds, or enough to make that again (`keeps_values`, WriteQueue); or
// because memory is short. Under pressure values that are on disk are spilled,
// oldest first.
//
// A machine: no threads, clocks or messages. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_STORAGE_VALUE_SPILL_H_
#define DOGGED_RUNTIME_JOB_STORAGE_VALUE_SPILL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kvstore/dictionary/label_limits.h"
#include "kvstore/dictionary/label_relations.h"
#include "kvstore/dictionary/shard.h"
#include "kvstore/storage/value_store.h"
#include "kvstore/storage/write_queue.h"
#include "runtime/base/hash.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"

namespace dogged {

// To spill a smaller value frees next to nothing, for it keeps its header.
inline constexpr int64_t kSpilledMin = Value::kHeaderBytes;

struct StorageOptions {
  Digest job;
  // Values count as durable only once they are written, or the values made of
  // them are.
  bool keeps_values = false;
  // Bound of all values of this process; 0: none.
  int64_t bytes_max = 0;
  std::function<int64_t()> live_bytes = Value::LiveBytes;
  int64_t generation_interval = LabelLimits().generation_interval;
};

// Loaded: a label that was spilled, and the agents that wait for its value.
struct LoadedValue {
  Label label;
  std::set<AgentId> targets;
};

class ValueSpill {
 public:
  // `store` may be null: then nothing is ever written. All outlive this.
  ValueSpill(StorageOptions options, ValueStore* store,
             const LabelRelations& labels, Shard& shard);
  ValueSpill(const ValueSpill&) = delete;
  ValueSpill& operator=(const ValueSpill&) = delete;

  const StorageOptions& options() const { return options_; }
  bool has_store() const { return store_ != nullptr; }
  bool IsWriting() const {
    return store_ != nullptr && store_->writing_bytes() > 0;
  }
  int64_t live_bytes() const { return options_.live_bytes(); }
  // Half of the bound is taken.
  bool IsPressed() const {
    return options_.bytes_max > 0 && live_bytes() >= options_.bytes_max / 2;
  }
  // Why nothing is written any more; OK as long as the disk works.
  const absl::Status& disk() const { return disk_; }

  // --- memory to disk
  // Takes news of the shard in: labels that were erased, and bound. `is_result`
  // says what has to be written.
  void TakeNews(absl::Time now,
                absl::FunctionRef<bool(const Label&)> is_result);
  // Spills values until those in memory take `target`, as far as they are
  // on disk; the others are written next.
  void Evict(int64_t target);
  void StartWrites();
  // The directory gets all that is held here, not just enough to make it again.
  void WriteAll() { write_queue_.AddLeftOut(); }
  // The directory has all that it is to have.
  bool IsWritten() const { return writing_.empty() && write_queue_.IsEmpty(); }

  // --- disk to memory
  // Has the bytes of a spilled value fetched; TakeLoaded() says when.
  void Load(const Label& label, const std::set<AgentId>& targets);
  std::vector<LoadedValue> TakeLoaded() { return std::exchange(loaded_, {}); }
  // kWritten, kLoaded and kLost are dealt with here. True if an entry had
  // nothing but what was on disk, and that is lost: the entry then holds no
  // value.
  bool Note(const ValueStore::Event& event);
  // A value that was found on disk: `entry` gets it, whole or spilled as memory
  // allows.
  void Adopt(const Label& label, LabelEntry& entry, const Value& value);
  void Scan() { store_->Scan(options_.job); }

  // --- the end
  // The job has ended: what is on disk goes, unless it is nowhere else.
  void Conclude();
  // The disk takes no more: nothing is written from now on. False if that was
  // so before.
  bool GiveUpDisk(const absl::Status& cause);

 private:
  void ForgetErased();

  StorageOptions options_;  // but `keeps_values`, which may end
  ValueStore* const store_;
  Shard& shard_;
  absl::flat_hash_map<Label, uint64_t> writing_;  // tickets
  WriteQueue write_queue_;                        // for the directory
  std::deque<Label> to_evict_;  // for room: written before the queue
  std::deque<Label> resident_;  // oldest first; some may be gone
  absl::flat_hash_map<Label, LoadedValue> loading_;
  std::vector<LoadedValue> loaded_;  // until TakeLoaded()
  absl::Status disk_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_STORAGE_VALUE_SPILL_H_

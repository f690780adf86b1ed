// JobStorage: the bytes of a job's values on this agent, in memory, on disk, or
// both, or on their way from one to the other; and the tasks that wait for
// bytes before they may run.
//
// Two reasons to write a value: the agent has a directory of its own and keeps
// its values there, or enough to make these again (`keeps_values`, WriteQueue);
// or memory is short. Under pressure values that are on disk are *spilled*,
// oldest first: their bytes are dropped from memory (Value::Hollow()). A task
// with spilled inputs is *loading* (Stage()); the most urgent ones get their
// inputs loaded, within the bound, so no two tasks wait for each other's
// memory.
//
// A machine: no threads, clocks or messages. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_JOB_STORAGE_H_
#define DOGGED_RUNTIME_JOB_JOB_STORAGE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kvstore/dictionary/shard.h"
#include "kvstore/storage/value_store.h"
#include "kvstore/storage/write_queue.h"
#include "runtime/base/ids.h"
#include "runtime/exec/activation_table.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/relations.h"
#include "runtime/graph/task_bytes.h"
#include "runtime/job/job_options.h"

namespace dogged {

class JobStorage {
 public:
  struct Options {
    Digest job;
    // Values count as durable only once they are written, or the values made of
    // them are.
    bool keeps_values = false;
    // Bytes that all values of this process may take; 0: no bound.
    int64_t bytes_max = 0;
    std::function<int64_t()> live_bytes = Value::LiveBytes;
    int64_t generation_interval = JobLimits().generation_interval;
  };
  // Loaded: a label that was spilled, and the agents that wait for its value.
  struct Loaded {
    Label label;
    absl::btree_set<AgentId> targets;
  };

  // `store` may be null: then nothing is ever written. All outlive this.
  JobStorage(Options options, ValueStore* store, const Relations& relations,
             const LabelRelations& labels, Shard& shard);
  JobStorage(const JobStorage&) = delete;
  JobStorage& operator=(const JobStorage&) = delete;

  bool has_store() const { return store_ != nullptr; }
  bool keeps_values() const { return options_.keeps_values; }
  int64_t bytes_max() const { return options_.bytes_max; }
  int64_t live_bytes() const { return options_.live_bytes(); }
  // No task that requires nothing should start while others run.
  bool IsPressed() const {
    return options_.bytes_max > 0 && live_bytes() >= options_.bytes_max / 2;
  }

  // --- tasks
  // A task with these inputs can't run at once.
  bool MustStage(const Activation& record) const;
  void Stage(std::unique_ptr<Activation> record);
  // Forgets `task`; false if it was not loading.
  bool Drop(const Task& task);
  std::vector<Task> StagedTasks() const;
  bool IsStaged(const Task& task) const {
    const Key key = KeyOf(task);
    return staged_.contains(key) || active_.contains(key);
  }
  int64_t staged_count() const {
    return static_cast<int64_t>(staged_.size() + active_.size());
  }
  // Gives the memory needs of tasks, on an agent of so many workers; see
  // stuck().
  void SetKernels(std::shared_ptr<const KernelTable> kernels, int workers);
  // kResourceExhausted if `bytes`, of inputs and outputs of `task`, are more
  // than all values may take; names the number that would do.
  absl::Status Judge(const Task& task, int64_t bytes) const;
  // Spills values if memory is short, writes values, and hands out loading
  // tasks whose inputs are all here. `running` counts the tasks that have been
  // handed out and have not completed. `is_result` tells labels that must be
  // written; `replace_inputs` replaces each input of tasks that wait.
  using Visit = absl::FunctionRef<Value(const Value&)>;
  std::vector<std::unique_ptr<Activation>> Advance(
      absl::Time now, int64_t running, int workers,
      absl::FunctionRef<bool(const Label&)> is_result,
      absl::FunctionRef<void(Visit)> replace_inputs);
  // Inputs of loading tasks that this agent does not hold: to be demanded.
  std::vector<std::pair<Label, Task>> TakeRemote() {
    return std::exchange(remote_, {});
  }
  // Loading tasks whose inputs don't come: their spilled inputs count as
  // missing.
  std::vector<std::unique_ptr<Activation>> TakeReturned() {
    return std::exchange(returned_, {});
  }
  // The reason for which no task can ever run; OK as long as one may.
  const absl::Status& stuck() const { return stuck_; }

  // --- values
  // Fetches the bytes of a spilled value, which TakeLoaded() then returns.
  void Load(const Label& label, const absl::btree_set<AgentId>& targets);
  std::vector<Loaded> TakeLoaded() { return std::exchange(loaded_, {}); }
  // Takes bytes that came from elsewhere, maybe for a loading task.
  void Offer(const Label& label, const Value& value);
  // Handles kWritten, kLoaded and kLost events of this job. True if the bytes
  // of an entry were on disk only, and are lost: the entry then holds no value.
  bool Note(const ValueStore::Event& event);
  // Gives `entry` a value of this job that was found on disk, whole or spilled
  // as memory allows.
  void Adopt(const Label& label, LabelEntry& entry, const Value& value);
  void Scan() { store_->Scan(options_.job); }
  // The job has ended: erases its values on disk, unless they are nowhere else.
  void Conclude();
  // The disk takes no more: nothing is written from now on, and memory that
  // would need it is stuck. False if that was so before.
  bool GiveUpDisk(const absl::Status& cause);

 private:
  using Key = std::pair<int64_t, Task>;  // most urgent first
  struct Active {
    std::unique_ptr<Activation> record;
    int64_t missing = 0;  // inputs that are still spilled
    int64_t bytes = 0;    // reserved for inputs and outputs
    int tries = 0;
    absl::Time next_try;
  };

  Key KeyOf(const Task& task) const;
  void ForgetErased();
  void QueueWrites(absl::Time now,
                   absl::FunctionRef<bool(const Label&)> is_result);
  void StartWrites();
  void Relieve(absl::Time now, absl::FunctionRef<void(Visit)> replace_inputs);
  void ReplaceStagedInputs(Visit visit);
  void Evict(int64_t target);
  // Asks for spilled inputs; takes the inputs that are here.
  void Fetch(absl::Time now, Active& active);
  void Retry(absl::Time now);
  void Fill(Active& active, const Label& label, const Value& value);
  // Memory in which a task that needs `bytes` more beside `live` can run, and
  // all other tasks, as far as is known.
  int64_t Enough(int64_t live, int64_t bytes) const;

  const Relations& relations_;
  Options options_;
  ValueStore* const store_;
  Shard& shard_;

  absl::flat_hash_map<Label, uint64_t> writing_;  // tickets
  WriteQueue write_queue_;
  std::deque<Label> to_evict_;  // written first
  std::deque<Label> resident_;  // oldest first; some may be gone
  absl::flat_hash_map<Label, Loaded> loading_;
  std::vector<Loaded> loaded_;

  absl::btree_map<Key, std::unique_ptr<Activation>> staged_;
  absl::btree_map<Key, Active> active_;
  std::vector<std::unique_ptr<Activation>> returned_;
  std::vector<std::pair<Label, Task>> remote_;
  std::shared_ptr<const KernelTable> kernels_;
  std::optional<TaskBytes> task_bytes_;
  int64_t widest_bytes_ = 0;  // of inputs and outputs of a task, as foretold
  int64_t kept_bytes_ = 0;    // beside them: scratch and labels, an estimate
  int64_t room_wanted_ = 0;   // by the loading task that is next
  absl::Time next_relief_ = absl::InfinitePast();
  absl::Time stuck_since_ = absl::InfiniteFuture();
  absl::Status stuck_;
  absl::Status disk_;  // why nothing is written any more
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_JOB_STORAGE_H_

// LoadingTasks: tasks whose inputs are spilled, or that wait for room. The most
// urgent ones become active: their inputs are loaded, and room is reserved for
// them, so no two tasks wait for each other's memory. A task whose inputs don't
// come is returned.
//
// A machine: no threads, clocks or messages. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_STORAGE_LOADING_TASKS_H_
#define DOGGED_RUNTIME_JOB_STORAGE_LOADING_TASKS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "kvstore/dictionary/shard.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/exec/activation_table.h"
#include "runtime/graph/relations.h"
#include "runtime/graph/task.h"
#include "runtime/job/storage/value_spill.h"

namespace dogged {

class LoadingTasks {
 public:
  LoadingTasks(const Relations& relations, const Shard& shard,
               ValueSpill& values)
      : relations_(relations), shard_(shard), values_(values) {}
  LoadingTasks(const LoadingTasks&) = delete;
  LoadingTasks& operator=(const LoadingTasks&) = delete;

  void Add(std::unique_ptr<Activation> record);
  bool Drop(const Task& task);  // false if it is not here
  bool Contains(const Task& task) const {
    const Key key = KeyOf(task);
    return waiting_.contains(key) || active_.contains(key);
  }
  std::vector<Task> All() const;
  int64_t size() const {
    return static_cast<int64_t>(waiting_.size() + active_.size());
  }

  // --- the one that is next
  bool HasNext() const { return !waiting_.empty(); }
  const Task& Next() const { return waiting_.begin()->first.second; }
  int64_t NextSpilledBytes() const;  // of its inputs
  // It becomes active; `bytes` are reserved for its inputs and outputs.
  void StartNext(absl::Time now, int64_t bytes);

  // --- active ones
  int64_t active_count() const { return std::ssize(active_); }
  int64_t reserved_bytes() const;
  // Asks again for inputs that don't come.
  void Retry(absl::Time now);
  // Bytes that came, maybe for one of them.
  void Offer(const Label& label, const Value& value);
  // Tasks whose inputs are all here.
  std::vector<std::unique_ptr<Activation>> TakeReady();
  // Tasks whose inputs don't come.
  std::vector<std::unique_ptr<Activation>> TakeReturned() {
    return std::exchange(returned_, {});
  }
  // Inputs that this agent does not hold, and the tasks that need them.
  std::vector<std::pair<Label, Task>> TakeRemote() {
    return std::exchange(remote_, {});
  }

  // Replaces each input of those that are not active.
  using Visit = absl::FunctionRef<Value(const Value&)>;
  void ReplaceInputs(Visit visit);

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
  // Asks for spilled inputs; takes the inputs that are here.
  void Fetch(absl::Time now, Active& active);
  void Fill(Active& active, const Label& label, const Value& value);

  const Relations& relations_;
  const Shard& shard_;
  ValueSpill& values_;
  std::map<Key, std::unique_ptr<Activation>> waiting_;  // not active
  std::map<Key, Active> active_;
  std::vector<std::unique_ptr<Activation>> returned_;  // until TakeReturned()
  std::vector<std::pair<Label, Task>> remote_;         // until TakeRemote()
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_STORAGE_LOADING_TASKS_H_

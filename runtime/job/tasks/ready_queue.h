// ReadyQueue: tasks whose inputs are at hand and that may not start yet: the
// workers have enough, kernels are missing, or another agent may have run them.
// The most urgent starts first, among equals the newest: its inputs are warm.
//
// A data structure. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_TASKS_READY_QUEUE_H_
#define DOGGED_RUNTIME_JOB_TASKS_READY_QUEUE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "runtime/exec/activation_table.h"

namespace dogged {

class ReadyQueue {
 public:
  // `record` has its priority.
  void Put(std::unique_ptr<Activation> record);
  // Null if `task` is not here.
  std::unique_ptr<Activation> Remove(const Task& task);
  // The first that `may_start`; null if there is none.
  std::unique_ptr<Activation> Take(
      absl::FunctionRef<bool(const Task&)> may_start);
  // The least urgent and oldest that `may_go`, of a few; null without one.
  std::unique_ptr<Activation> TakeLast(
      absl::FunctionRef<bool(const Activation&)> may_go);
  // Replaces every input by the result of `visit`, which is not none.
  void ReplaceInputs(absl::FunctionRef<Value(const Value&)> visit);
  // In the order in which they would start.
  std::vector<Task> All() const;
  bool Contains(const Task& task) const { return place_of_.contains(task); }
  bool empty() const { return by_place_.empty(); }
  int64_t size() const { return std::ssize(by_place_); }

 private:
  using Place = std::pair<int64_t, int64_t>;
  int64_t sequence_ = 0;
  std::map<Place, std::unique_ptr<Activation>> by_place_;
  absl::flat_hash_map<Task, Place> place_of_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_TASKS_READY_QUEUE_H_

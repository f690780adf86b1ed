// Work left to the backward search at an agent: demands that are yet to be
// resolved, and demanded tasks that wait for inputs. Certain demands come
// before guesses, then deeper ones. Both are bounded: the least urgent is
// dropped, for an agent that needs it asks again.
//
// Data structures: no messages, no clock. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_TASKS_DEMANDED_TASKS_H_
#define DOGGED_RUNTIME_JOB_TASKS_DEMANDED_TASKS_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "runtime/base/label.h"
#include "runtime/graph/task.h"

namespace dogged {

// Urgency: whether a label or task is certain, and its depth. Guesses may keep
// each other busy for long; a chain that begins at an unbound result ends at
// tasks that can run.
using Urgency = std::pair<bool, int32_t>;

// OpenDemand: an unbound label that is demanded, still to be resolved.
struct OpenDemand {
  Label label;
  int32_t depth = 0;
  bool certain = false;
  // Another home passed the demand on to the producer's: the waiters are there.
  bool passed_on = false;
};

// FarDemands: demands for labels that are needed for certain, far above the
// bound versions of their rows. The search resolves the next unbound version of
// the row instead, and goes on from there once that is bound.
class FarDemands {
 public:
  explicit FarDemands(int64_t count_max) : count_max_(count_max) {}

  // Keeps a demand for each row, of the latest version. Version `newest` of the
  // row was bound.
  void Add(const Label& row, int64_t newest, const OpenDemand& demand);
  // Takes out demands that `has_moved`, of the next few rows in turn.
  std::vector<OpenDemand> TakeSome(
      absl::FunctionRef<bool(const OpenDemand&, int64_t newest)> has_moved);
  void Clear() { by_row_.clear(); }

 private:
  struct Far {
    int64_t newest;
    OpenDemand demand;
  };
  const int64_t count_max_;
  std::map<Label, Far> by_row_;
  Label next_;  // whose turn it is
};

class OpenDemands {
 public:
  explicit OpenDemands(int64_t count_max)
      : count_max_(count_max), far_(count_max) {}

  // Keeps a demand for each label: the more urgent one, with the flags of both.
  void Add(OpenDemand demand);
  // The most urgent demand, the newest of several. There must be one.
  OpenDemand TakeFirst();
  // `label` has been made.
  void Erase(const Label& label);
  FarDemands& far() { return far_; }
  bool empty() const { return by_place_.empty(); }
  int64_t size() const { return std::ssize(by_place_); }

 private:
  using Place = std::pair<Urgency, uint64_t>;  // and sequence
  const int64_t count_max_;
  FarDemands far_;
  uint64_t sequence_ = 0;
  std::map<Place, OpenDemand> by_place_;
  absl::flat_hash_map<Label, Place> place_of_;
};

// A task that is demanded, or overdue, and waits for inputs.
struct DemandedTask {
  int32_t depth = 0;
  bool certain = false;
  absl::Time next_check;
  absl::Duration interval;
};

class DemandedTasks {
 public:
  bool Contains(const Task& task) const {
    return !by_task_.empty() && by_task_.contains(task);
  }
  // Null if there is none. Pointers are good until the next change.
  const DemandedTask* Find(const Task& task) const;
  void Put(const Task& task, const DemandedTask& demanded_task);
  void Erase(const Task& task);
  int64_t size() const { return std::ssize(by_task_); }
  // There must be one.
  Task LeastUrgent() const { return by_urgency_.begin()->second; }
  // Tasks to check now: the longest due, up to `count_max`, in that order.
  std::vector<Task> Due(absl::Time now, int64_t count_max) const;
  // In task order.
  std::vector<Task> All() const;
  void CheckAllAt(absl::Time time);

 private:
  absl::flat_hash_map<Task, DemandedTask> by_task_;
  std::set<std::pair<Urgency, Task>> by_urgency_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_TASKS_DEMANDED_TASKS_H_

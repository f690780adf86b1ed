// What the backward search still has to do at one agent: labels that somebody
// demands and nobody has looked at yet, and tasks that are demanded and wait
// for inputs. Both bounded: the shallowest goes first, for whoever needs it
// asks again.
//
// Data structures: no messages, no clock. Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_PURSUITS_H_
#define DOGGED_RUNTIME_AGENT_PURSUITS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "runtime/base/label.h"
#include "runtime/graph/task.h"

namespace dogged {

// A label that somebody demands and nobody has bound, still to be looked at.
struct OpenDemand {
  Label label;
  int32_t depth = 0;
  bool certain = false;
  // Another home passed it on to the producer's: who waits is there.
  bool passed_on = false;
};

class OpenDemands {
 public:
  explicit OpenDemands(int64_t count_max) : count_max_(count_max) {}

  // One place a label: the deeper one, with what either says.
  void Add(OpenDemand demand);
  // Among equally deep ones the newest. There is one.
  OpenDemand TakeDeepest();
  bool empty() const { return by_place_.empty(); }
  int64_t size() const { return static_cast<int64_t>(by_place_.size()); }

 private:
  using Place = std::pair<int32_t, uint64_t>;  // depth, sequence
  const int64_t count_max_;
  uint64_t sequence_ = 0;
  absl::btree_map<Place, OpenDemand> by_place_;
  absl::flat_hash_map<Label, Place> place_of_;
};

// A task that is demanded, or overdue, and waits for inputs.
struct Pursuit {
  int32_t depth = 0;
  bool certain = false;
  absl::Time next_check;
  absl::Duration interval;
};

class Pursuits {
 public:
  bool Contains(const Task& task) const { return by_task_.contains(task); }
  // Null if there is none. Pointers are good until the next change.
  const Pursuit* Find(const Task& task) const;
  void Put(const Task& task, const Pursuit& pursuit);
  void Erase(const Task& task);
  int64_t size() const { return static_cast<int64_t>(by_task_.size()); }
  // There is one.
  Task Shallowest() const { return by_depth_.begin()->second; }
  // Those whose time has come: the longest due, up to `count_max` of them, in
  // that order.
  std::vector<Task> Due(absl::Time now, int64_t count_max) const;
  // In task order.
  std::vector<Task> All() const;
  void CheckAllAt(absl::Time time);

 private:
  absl::flat_hash_map<Task, Pursuit> by_task_;
  absl::btree_set<std::pair<int32_t, Task>> by_depth_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_PURSUITS_H_

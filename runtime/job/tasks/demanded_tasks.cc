#include "runtime/job/tasks/demanded_tasks.h"

#include <algorithm>
#include <iterator>

namespace dogged {
namespace {

// Urgency of an OpenDemand or DemandedTask.
template <typename T>
Urgency UrgencyOf(const T& one) {
  return {one.certain, one.depth};
}

}  // namespace

void OpenDemands::Add(OpenDemand demand) {
  const auto known = place_of_.find(demand.label);
  if (known != place_of_.end()) {
    OpenDemand& open = by_place_[known->second];
    open.passed_on |= demand.passed_on;
    if (UrgencyOf(demand) <= known->second.first) return;
    demand.certain |= open.certain;
    demand.depth = std::max(demand.depth, open.depth);
    demand.passed_on = open.passed_on;
    by_place_.erase(known->second);
  }
  const Place place{UrgencyOf(demand), sequence_++};
  place_of_[demand.label] = place;
  by_place_.emplace(place, std::move(demand));
  if (size() > count_max_) {
    place_of_.erase(by_place_.begin()->second.label);
    by_place_.erase(by_place_.begin());
  }
}

OpenDemand OpenDemands::TakeFirst() {
  const auto first = std::prev(by_place_.end());
  const OpenDemand open = first->second;
  by_place_.erase(first);
  place_of_.erase(open.label);
  return open;
}

void OpenDemands::Erase(const Label& label) {
  if (place_of_.empty()) return;
  const auto it = place_of_.find(label);
  if (it == place_of_.end()) return;
  by_place_.erase(it->second);
  place_of_.erase(it);
}

void FarDemands::Add(const Label& row, int64_t newest,
                     const OpenDemand& demand) {
  const auto known = by_row_.find(row);
  if (known == by_row_.end()) {
    if (std::ssize(by_row_) < count_max_) by_row_[row] = {newest, demand};
    return;
  }
  known->second.newest = newest;
  if (known->second.demand.label < demand.label) {
    known->second.demand = demand;
  }
}

std::vector<OpenDemand> FarDemands::TakeSome(
    absl::FunctionRef<bool(const OpenDemand&, int64_t newest)> has_moved) {
  constexpr int64_t kRowsAtOnce = 256;
  std::vector<OpenDemand> out;
  auto it = by_row_.lower_bound(next_);
  for (int64_t left = std::min(kRowsAtOnce, std::ssize(by_row_)); left-- > 0;) {
    if (it == by_row_.end()) it = by_row_.begin();
    if (has_moved(it->second.demand, it->second.newest)) {
      out.push_back(it->second.demand);
      it = by_row_.erase(it);
    } else {
      ++it;
    }
  }
  next_ = it == by_row_.end() ? Label() : it->first;
  return out;
}

const DemandedTask* DemandedTasks::Find(const Task& task) const {
  const auto it = by_task_.find(task);
  return it == by_task_.end() ? nullptr : &it->second;
}

void DemandedTasks::Put(const Task& task, const DemandedTask& demanded_task) {
  auto [it, inserted] = by_task_.emplace(task, demanded_task);
  if (!inserted) {
    by_urgency_.erase({UrgencyOf(it->second), task});
    it->second = demanded_task;
  }
  by_urgency_.insert({UrgencyOf(demanded_task), task});
}

void DemandedTasks::Erase(const Task& task) {
  const auto it = by_task_.find(task);
  if (it == by_task_.end()) return;
  by_urgency_.erase({UrgencyOf(it->second), task});
  by_task_.erase(it);
}

std::vector<Task> DemandedTasks::Due(absl::Time now, int64_t count_max) const {
  std::vector<std::pair<absl::Time, Task>> due;
  for (const auto& [task, demanded_task] : by_task_) {
    if (demanded_task.next_check <= now)
      due.emplace_back(demanded_task.next_check, task);
  }
  const auto end = due.begin() + std::min(count_max, std::ssize(due));
  std::partial_sort(due.begin(), end, due.end());
  std::vector<Task> out;
  for (auto it = due.begin(); it != end; ++it) out.push_back(it->second);
  return out;
}

std::vector<Task> DemandedTasks::All() const {
  std::vector<Task> out;
  for (const auto& [task, demanded_task] : by_task_) out.push_back(task);
  std::sort(out.begin(), out.end());
  return out;
}

void DemandedTasks::CheckAllAt(absl::Time time) {
  for (auto& [task, demanded_task] : by_task_) demanded_task.next_check = time;
}

}  // namespace dogged

#include "runtime/job/tasks/ready_queue.h"

namespace dogged {

void ReadyQueue::Put(std::unique_ptr<Activation> record) {
  const Place place{-record->priority, --sequence_};
  place_of_.emplace(record->task, place);
  by_place_.emplace(place, std::move(record));
}

std::unique_ptr<Activation> ReadyQueue::Remove(const Task& task) {
  if (place_of_.empty()) return nullptr;
  const auto known = place_of_.find(task);
  if (known == place_of_.end()) return nullptr;
  const auto at = by_place_.find(known->second);
  std::unique_ptr<Activation> record = std::move(at->second);
  by_place_.erase(at);
  place_of_.erase(known);
  return record;
}

std::unique_ptr<Activation> ReadyQueue::Take(
    absl::FunctionRef<bool(const Task&)> may_start) {
  for (auto& [place, record] : by_place_) {
    if (may_start(record->task)) return Remove(Task(record->task));
  }
  return nullptr;
}

std::unique_ptr<Activation> ReadyQueue::TakeLast(
    absl::FunctionRef<bool(const Activation&)> may_go) {
  constexpr int kTriesMax = 16;
  int tries = 0;
  for (auto it = by_place_.rbegin();
       it != by_place_.rend() && tries < kTriesMax; ++it, ++tries) {
    if (may_go(*it->second)) return Remove(Task(it->second->task));
  }
  return nullptr;
}

void ReadyQueue::ReplaceInputs(absl::FunctionRef<Value(const Value&)> visit) {
  for (auto& [place, record] : by_place_) {
    for (Value& input : record->inputs) {
      if (!input.IsNone()) input = visit(input);
    }
  }
}

std::vector<Task> ReadyQueue::All() const {
  std::vector<Task> out;
  for (const auto& [place, record] : by_place_) out.push_back(record->task);
  return out;
}

}  // namespace dogged

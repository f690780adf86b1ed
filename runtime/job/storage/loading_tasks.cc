#include "runtime/job/storage/loading_tasks.h"

namespace dogged {
namespace {

constexpr absl::Duration kRetryInterval = absl::Milliseconds(500);
// Tries to fetch inputs. Then these may be lost, and lost labels are made again
// only for certain demands. More tries make each version of a lost row wait
// that long.
constexpr int kTriesMax = 2;

}  // namespace

LoadingTasks::Key LoadingTasks::KeyOf(const Task& task) const {
  const TaskClass& c = relations_.ClassOf(task);
  return {-c.priority.Evaluate(task.index), task};
}

void LoadingTasks::Add(std::unique_ptr<Activation> record) {
  waiting_[KeyOf(record->task)] = std::move(record);
}

bool LoadingTasks::Drop(const Task& task) {
  if (size() == 0) return false;
  const Key key = KeyOf(task);
  return waiting_.erase(key) + active_.erase(key) > 0;
}

std::vector<Task> LoadingTasks::All() const {
  std::vector<Task> out;
  for (const auto& [key, record] : waiting_) out.push_back(key.second);
  for (const auto& [key, active] : active_) out.push_back(key.second);
  return out;
}

int64_t LoadingTasks::NextSpilledBytes() const {
  int64_t bytes = 0;
  for (const Value& input : waiting_.begin()->second->inputs) {
    if (input.IsSpilled()) bytes += input.bytes();
  }
  return bytes;
}

void LoadingTasks::StartNext(absl::Time now, int64_t bytes) {
  const auto first = waiting_.begin();
  const Key key = first->first;
  Active active{.record = std::move(first->second), .bytes = bytes};
  waiting_.erase(first);
  for (const Value& input : active.record->inputs) {
    if (input.IsSpilled()) ++active.missing;
  }
  if (active.missing > 0) Fetch(now, active);
  active_[key] = std::move(active);
}

int64_t LoadingTasks::reserved_bytes() const {
  int64_t bytes = 0;
  for (const auto& [key, active] : active_) bytes += active.bytes;
  return bytes;
}

void LoadingTasks::Fill(Active& active, const Label& label,
                        const Value& value) {
  relations_.ForEachRequired(
      active.record->task, [&](int use, const Label& required) {
        Value& input = active.record->inputs[use];
        if (required == label && input.IsSpilled() &&
            input.digest() == value.digest()) {
          input = value;
          --active.missing;
          active.bytes -= value.bytes();  // they are live now
        }
      });
}

void LoadingTasks::Fetch(absl::Time now, Active& active) {
  ++active.tries;
  active.next_try = now + active.tries * kRetryInterval;
  std::vector<Label> spilled;
  relations_.ForEachRequired(active.record->task,
                             [&](int use, const Label& label) {
                               if (active.record->inputs[use].IsSpilled()) {
                                 spilled.push_back(label);
                               }
                             });
  for (const Label& label : spilled) {
    const LabelEntry* entry = shard_.FindBound(label);
    if (entry == nullptr) {
      remote_.emplace_back(label, active.record->task);
    } else if (entry->value.IsSpilled()) {
      values_.Load(label, {});
    } else {
      Fill(active, label, entry->value);
    }
  }
}

void LoadingTasks::Retry(absl::Time now) {
  for (auto it = active_.begin(); it != active_.end();) {
    Active& active = it->second;
    if (active.missing > 0 && active.next_try <= now) {
      if (active.tries >= kTriesMax) {
        returned_.push_back(std::move(active.record));
        it = active_.erase(it);
        continue;
      }
      Fetch(now, active);
    }
    ++it;
  }
}

void LoadingTasks::Offer(const Label& label, const Value& value) {
  for (auto& [key, active] : active_) {
    if (active.missing > 0) Fill(active, label, value);
  }
}

std::vector<std::unique_ptr<Activation>> LoadingTasks::TakeReady() {
  std::vector<std::unique_ptr<Activation>> ready;
  for (auto it = active_.begin(); it != active_.end();) {
    if (it->second.missing > 0) {
      ++it;
      continue;
    }
    ready.push_back(std::move(it->second.record));
    it = active_.erase(it);
  }
  return ready;
}

void LoadingTasks::ReplaceInputs(Visit visit) {
  for (auto& [key, record] : waiting_) {
    for (Value& input : record->inputs) {
      if (!input.IsNone()) input = visit(input);
    }
  }
}

}  // namespace dogged

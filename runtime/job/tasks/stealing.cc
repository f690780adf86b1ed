#include "runtime/job/tasks/stealing.h"

#include <iterator>
#include <utility>

namespace dogged {
namespace {

// Longer than the time of a busy loop between two looks.
constexpr absl::Duration kAwayMin = absl::Milliseconds(500);

}  // namespace

void Stealing::NoteRoom(AgentId agent, int64_t count, absl::Time end) {
  if (count > 0) rooms_[agent] = {.count = count, .end = end};
}

void Stealing::ForgetOldRooms(absl::Time now) {
  for (auto it = rooms_.begin(); it != rooms_.end();) {
    it = it->second.end <= now ? rooms_.erase(it) : std::next(it);
  }
}

std::vector<AgentId> Stealing::Thieves(absl::Time now) {
  ForgetOldRooms(now);
  std::vector<AgentId> out;
  for (const auto& [agent, room] : rooms_) out.push_back(agent);
  return out;
}

int64_t Stealing::RoomCount(absl::Time now) {
  ForgetOldRooms(now);
  int64_t count = 0;
  for (const auto& [agent, room] : rooms_) count += room.count;
  return count;
}

void Stealing::TakeRoom(AgentId agent) {
  const auto it = rooms_.find(agent);
  if (it != rooms_.end() && --it->second.count <= 0) rooms_.erase(it);
}

void Stealing::Grant(AgentId thief, absl::Time limit,
                     std::unique_ptr<Activation> record) {
  const Task task = record->task;
  granted_[task] = {
      .thief = thief, .limit = limit, .record = std::move(record)};
}

bool Stealing::Extend(const Task& task, AgentId thief, absl::Time limit) {
  const auto it = granted_.find(task);
  if (it == granted_.end() || it->second.thief != thief) return false;
  it->second.limit = limit;
  return true;
}

void Stealing::Expect(const Task& task, AgentId agent, absl::Time limit) {
  expected_[task] = {.agent = agent, .limit = limit};
}

std::unique_ptr<Activation> Stealing::GrantIfExpected(
    std::unique_ptr<Activation> record) {
  const auto it = expected_.find(record->task);
  if (it == expected_.end()) return record;
  Grant(it->second.agent, it->second.limit, std::move(record));
  expected_.erase(it);
  return nullptr;
}

std::unique_ptr<Activation> Stealing::Remove(const Task& task) {
  expected_.erase(task);
  const auto it = granted_.find(task);
  if (it == granted_.end()) return nullptr;
  std::unique_ptr<Activation> record = std::move(it->second.record);
  granted_.erase(it);
  return record;
}

std::vector<std::unique_ptr<Activation>> Stealing::TakeBack(
    absl::Time now, absl::FunctionRef<bool(AgentId)> gone) {
  std::vector<std::unique_ptr<Activation>> out;
  if (const absl::Duration away = now - looked_; away > kAwayMin) {
    for (auto& [task, theft] : granted_) theft.limit += away;
    for (auto& [task, expected] : expected_) expected.limit += away;
  }
  looked_ = now;
  for (auto it = late_.begin(); it != late_.end();) {
    it = gone(it->second) ? late_.erase(it) : std::next(it);
  }
  for (auto it = expected_.begin(); it != expected_.end();) {
    const bool is_over = it->second.limit <= now || gone(it->second.agent);
    it = is_over ? expected_.erase(it) : std::next(it);
  }
  for (auto it = granted_.begin(); it != granted_.end();) {
    const bool is_gone = gone(it->second.thief);
    if (it->second.limit > now && !is_gone) {
      ++it;
      continue;
    }
    if (!is_gone && late_.size() < kLateMax) {
      late_[it->first] = it->second.thief;
    }
    out.push_back(std::move(it->second.record));
    it = granted_.erase(it);
  }
  return out;
}

bool Stealing::NoteLate(const Task& task, AgentId agent) {
  const auto it = late_.find(task);
  if (it == late_.end() || it->second != agent) return false;
  late_.erase(it);
  return true;
}

std::vector<Task> Stealing::Granted() const {
  std::vector<Task> out;
  for (const auto& [task, theft] : granted_) out.push_back(task);
  return out;
}

bool Stealing::MayAsk(AgentId victim, absl::Time now, absl::Time before) {
  for (auto it = asked_.begin(); it != asked_.end();) {
    it = it->second <= before ? asked_.erase(it) : std::next(it);
  }
  if (asked_.size() >= kAskedMax) return false;
  return asked_.try_emplace(victim, now).second;
}

}  // namespace dogged

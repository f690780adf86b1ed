#include "kvstore/replication/handover.h"

#include <algorithm>

namespace dogged {

void Handover::Give(AgentId to, const Label& label) {
  const auto known = giving_.find(to);
  if (known != giving_.end()) known->second.labels.insert(label);
}

void Handover::Give(AgentId to, const Reader& reader) {
  const auto known = giving_.find(to);
  if (known != giving_.end()) known->second.readers.insert(reader);
}

void Handover::Settle(AgentId to, const Label& label) {
  const auto known = giving_.find(to);
  if (known != giving_.end()) known->second.labels.erase(label);
}

void Handover::Settle(const Reader& reader) {
  for (auto& [to, given] : giving_) given.readers.erase(reader);
}

std::vector<AgentId> Handover::TakeComplete() {
  std::vector<AgentId> out;
  for (const auto& [to, given] : giving_) {
    if (given.labels.empty() && given.readers.empty()) out.push_back(to);
  }
  for (const AgentId to : out) giving_.erase(to);
  return out;
}

void Handover::ForgetIf(absl::FunctionRef<bool(AgentId)> gone) {
  for (auto it = giving_.begin(); it != giving_.end();) {
    it = gone(it->first) ? giving_.erase(it) : std::next(it);
  }
  std::vector<AgentId> dead;
  for (const auto& [from, awaited] : awaited_) {
    if (!awaited.leaves && gone(from)) dead.push_back(from);
  }
  for (const AgentId from : dead) EndAwait(from);
}

void Handover::Await(AgentId from, absl::Time limit, const Placement& former) {
  if (early_starters_.erase(from) > 0) return;
  if (awaited_.empty()) former_ = former;
  awaited_[from] = {.limit = limit};
}

void Handover::AwaitLeaver(AgentId from, absl::Time limit,
                           const Placement& former) {
  Await(from, limit, former);
  const auto awaited = awaited_.find(from);
  if (awaited != awaited_.end()) awaited->second.leaves = true;
}

void Handover::EndAwait(AgentId from) {
  if (awaited_.erase(from) > 0 && awaited_.empty()) former_.reset();
}

void Handover::Expire(absl::Time now) {
  std::vector<AgentId> late;
  for (const auto& [from, awaited] : awaited_) {
    if (awaited.limit <= now) late.push_back(from);
  }
  for (const AgentId from : late) EndAwait(from);
}

absl::Time Handover::NextLimit() const {
  absl::Time first = absl::InfiniteFuture();
  for (const auto& [from, awaited] : awaited_) {
    first = std::min(first, awaited.limit);
  }
  return first;
}

}  // namespace dogged

#include "routing/membership/candidates.h"

#include <utility>

namespace dogged {
namespace {

constexpr absl::Duration kPingInterval = absl::Milliseconds(300);

}  // namespace

bool Candidates::Add(MemberFact fact, absl::Time now) {
  const AgentId id = fact.id;
  const bool is_new =
      candidates_.try_emplace(id, Candidate{std::move(fact), now}).second;
  if (is_new) next_ping_ = now;
  return is_new;
}

MemberFact Candidates::Take(AgentId id) {
  MemberFact fact = std::move(candidates_.at(id).fact);
  candidates_.erase(id);
  return fact;
}

std::vector<AgentId> Candidates::ids() const {
  std::vector<AgentId> out;
  for (const auto& [id, candidate] : candidates_) out.push_back(id);
  return out;
}

std::vector<MemberFact> Candidates::facts() const {
  std::vector<MemberFact> out;
  for (const auto& [id, candidate] : candidates_) {
    out.push_back(candidate.fact);
  }
  return out;
}

Candidates::Due Candidates::Tick(absl::Time now) {
  Due due;
  if (candidates_.empty() || now < next_ping_) return due;
  next_ping_ = now + kPingInterval;
  std::erase_if(candidates_, [&](const auto& item) {
    const Candidate& candidate = item.second;
    if (now - candidate.since < time_max_) return false;
    due.forgotten.push_back(candidate.fact.member);
    return true;
  });
  due.to_ping = ids();
  return due;
}

}  // namespace dogged

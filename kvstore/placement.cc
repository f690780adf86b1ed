#include "kvstore/placement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/hash.h"

namespace dogged {

Placement::Placement(std::vector<PlacementMember> members, int replicas)
    : members_(std::move(members)), replicas_(replicas) {
  DOGGED_CHECK(replicas >= 1) << replicas << " replicas";
  std::sort(members_.begin(), members_.end(),
            [](const PlacementMember& a, const PlacementMember& b) {
              return a.agent < b.agent;
            });
}

// A member's score is -workers / log(u) with u uniform in (0, 1) by hash: the
// member with the highest score wins a share of keys that is proportional to
// its workers (Schindelhauer and Schomaker 2005, logarithmic method).
Placement::RankList Placement::Compute(uint64_t key) const {
  struct Scored {
    double score;
    const PlacementMember* member;
  };
  std::vector<Scored> scored;
  scored.reserve(members_.size());
  for (const PlacementMember& member : members_) {
    const uint64_t hash = Mix64(key, member.agent.value());
    const double u = (static_cast<double>(hash >> 11) + 0.5) * 0x1.0p-53;
    scored.push_back({-std::max(1, member.workers) / std::log(u), &member});
  }
  std::sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.member->agent < b.member->agent;
  });
  if (!scored.empty()) {
    const std::string& host = scored[0].member->host;
    std::stable_partition(
        scored.begin() + 1, scored.end(),
        [&host](const Scored& s) { return s.member->host != host; });
  }
  RankList out;
  for (const Scored& s : scored) {
    if (static_cast<int>(out.size()) == replicas_) break;
    out.push_back(s.member->agent);
  }
  return out;
}

absl::Span<const AgentId> Placement::Ranks(uint64_t key) const {
  auto it = cache_.find(key);
  if (it == cache_.end()) {
    if (cache_.size() >= kCachedKeysMax) cache_.clear();
    it = cache_.emplace(key, Compute(key)).first;
  }
  return it->second;
}

AgentId Placement::Home(uint64_t key) const {
  const absl::Span<const AgentId> ranks = Ranks(key);
  return ranks.empty() ? AgentId() : ranks[0];
}

int Placement::RankOf(uint64_t key, AgentId agent) const {
  const absl::Span<const AgentId> ranks = Ranks(key);
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] == agent) return static_cast<int>(i);
  }
  return -1;
}

bool Placement::Contains(AgentId agent) const {
  return std::any_of(
      members_.begin(), members_.end(),
      [agent](const PlacementMember& m) { return m.agent == agent; });
}

}  // namespace dogged

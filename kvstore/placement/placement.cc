#include "kvstore/placement/placement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/hash.h"

namespace dogged {

Placement::Placement(std::vector<PlacementMember> members, int replicas,
                     std::shared_ptr<const KeySalts> salts)
    : members_(std::move(members)),
      replicas_(replicas),
      salts_(std::move(salts)) {
  DOGGED_CHECK(replicas >= 1) << replicas << " replicas";
  std::sort(members_.begin(), members_.end(),
            [](const PlacementMember& a, const PlacementMember& b) {
              return a.agent < b.agent;
            });
  absl::flat_hash_map<absl::string_view, int32_t> numbers;
  for (const PlacementMember& member : members_) {
    const auto number = static_cast<int32_t>(numbers.size());
    hosts_.push_back(numbers.try_emplace(member.host, number).first->second);
    is_weighted_ |= member.workers != members_.front().workers;
  }
}

// A member's score is -workers / log(u) with u uniform in (0, 1) by hash: the
// member with the highest score wins a share of keys that is proportional to
// its workers (Schindelhauer and Schomaker 2005, logarithmic method). With
// equal workers it is in the order of u.
double Placement::ScoreOf(uint64_t key, size_t position) const {
  const PlacementMember& member = members_[position];
  const uint64_t hash = Mix64(key, member.agent.value());
  const double u = (static_cast<double>(hash >> 11) + 0.5) * 0x1.0p-53;
  return is_weighted_ ? -std::max(1, member.workers) / std::log(u) : u;
}

Placement::Positions Placement::RanksWith(uint64_t key, uint8_t salt) const {
  if (salt > 0) key = Mix64(key, salt);
  scores_.clear();
  for (size_t i = 0; i < members_.size(); ++i) {
    scores_.push_back(ScoreOf(key, i));
  }
  Positions out;
  const size_t count = std::min(scores_.size(), static_cast<size_t>(replicas_));
  while (out.size() < count) {
    size_t best = scores_.size();
    for (size_t i = 0; i < scores_.size(); ++i) {
      if (scores_[i] < 0) continue;  // has a rank
      if (best == scores_.size() || ComesBefore(i, best, out)) best = i;
    }
    scores_[best] = -1;
    out.push_back(best);
  }
  return out;
}

bool Placement::IsHomeHostWith(uint64_t key, uint8_t salt, int32_t host) const {
  if (salt > 0) key = Mix64(key, salt);
  double best = -1;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (hosts_[i] == host) best = std::max(best, ScoreOf(key, i));
  }
  for (size_t i = 0; i < members_.size(); ++i) {
    if (hosts_[i] != host && ScoreOf(key, i) > best) return false;
  }
  return true;
}

bool Placement::ComesBefore(size_t a, size_t b, const Positions& ranks) const {
  if (!ranks.empty()) {
    const int32_t host = hosts_[ranks[0]];
    if ((hosts_[a] == host) != (hosts_[b] == host)) return hosts_[b] == host;
  }
  return scores_[a] != scores_[b] ? scores_[a] > scores_[b] : a < b;
}

Placement::RankList Placement::Compute(uint64_t key) const {
  uint8_t salt = 0;
  if (salts_ != nullptr) {
    const auto known = salts_->find(key);
    if (known != salts_->end()) salt = known->second;
  }
  RankList out;
  for (const size_t i : RanksWith(key, salt)) {
    out.push_back(members_[i].agent);
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

#include "kvstore/placement/balance.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <iterator>
#include <optional>

#include "absl/types/span.h"

namespace dogged {
namespace {

constexpr int kSaltMax = 255;
// Where keys are few for their members, and members few, one whose home has
// room looks so far for a better one: at its neighbour's, with a copy where
// there is room.
constexpr int kSaltsForMore = 32;
constexpr int64_t kFewKeysPerMember = 32;
constexpr int64_t kFewMembers = 32;
// Neighbours that are kept together. More of them are more often idle together
// where tasks follow one another along them.
constexpr int kTogether = 2;
// Scores that are computed in all: some milliseconds.
constexpr int64_t kScoresMax = 1 << 20;

// How far a key would bring agents beyond their shares.
struct Excess {
  double home = 0;
  bool is_apart = false;  // from its neighbour
  double copy = 0;
  friend auto operator<=>(const Excess&, const Excess&) = default;
};

class Balancer {
 public:
  Balancer(const std::vector<PlacementMember>& members, int replicas,
           const std::vector<KeyLoad>& keys)
      : placement_(members, std::min(replicas, 2)),
        homes_(members.size()),
        copies_(members.size()),
        both_(members.size() * members.size()),
        wants_more_(std::ssize(members) <= kFewMembers &&
                    std::ssize(keys) <=
                        kFewKeysPerMember * std::ssize(members)) {
    double workers = 0;
    for (const PlacementMember& member : placement_.members()) {
      workers += std::max(1, member.workers);
    }
    for (const PlacementMember& member : placement_.members()) {
      shares_.push_back(std::max(1, member.workers) / workers);
    }
    for (const KeyLoad& key : keys) total_ += static_cast<double>(key.load);
  }

  // The next `keys` have equal loads.
  void BeginLike(absl::Span<const KeyLoad> keys) {
    begun_ += static_cast<double>(keys.front().load) *
              static_cast<double>(keys.size());
  }

  // The salt that `key` gets, and takes its place with.
  uint8_t Place(const KeyLoad& key) {
    std::optional<int> best;
    if (key.host >= 0) best = BestSalt(key, true);
    if (!best.has_value()) best = BestSalt(key, false);
    Take(key, *best);
    return static_cast<uint8_t>(*best);
  }

 private:
  // The best of all salts, or of those with which `key` is on its host.
  std::optional<int> BestSalt(const KeyLoad& key, bool is_host_named) {
    std::optional<int> best;
    Excess least;
    int looked_at = 0;
    for (int salt = 0; salt <= kSaltMax; ++salt) {
      if (is_host_named && !placement_.IsHomeHostWith(
                               key.key, static_cast<uint8_t>(salt), key.host)) {
        continue;
      }
      const Excess excess = ExcessOf(key, salt);
      if (!best.has_value() || excess < least) {
        best = salt;
        least = excess;
      }
      if (least == Excess() || scores_left_ <= 0) break;
      // Its host is as full as the layout makes it.
      ++looked_at;
      if ((is_host_named || least.home == 0) && looked_at > kSaltsForMore) {
        break;
      }
    }
    return best;
  }

  Placement::Positions RanksOf(const KeyLoad& key, int salt) {
    scores_left_ -= std::ssize(shares_);
    return placement_.RanksWith(key.key, static_cast<uint8_t>(salt));
  }

  // Excess of agent `a`'s load over a limit, in units of its share.
  double Beyond(double load, double limit, size_t a) const {
    // Loads are sums of whole numbers, and limits shares of them: allows for
    // rounding.
    const double excess = load - limit * (1 + 1e-9);
    return excess > 0 ? excess / (total_ * shares_[a]) : 0;
  }

  Excess ExcessOf(const KeyLoad& key, int salt) {
    const Placement::Positions ranks = RanksOf(key, salt);
    const auto load = static_cast<double>(key.load);
    const size_t home = ranks[0];
    // A share rounded up to whole keys.
    const double room = begun_ * shares_[home] + load * (1 - shares_[home]);
    Excess out{.home = Beyond(homes_[home] + load, room, home)};
    if (!wants_more_) return out;
    out.is_apart = run_ > 0 && home != last_home_;
    if (ranks.size() < 2) return out;
    const size_t copy = ranks[1];
    out.copy =
        Beyond(copies_[copy] + load, total_ * shares_[copy] + load, copy);
    // The load that it takes over when that home dies.
    const double heir =
        total_ * shares_[home] * shares_[copy] / (1 - shares_[home]);
    out.copy +=
        Beyond(both_[home * shares_.size() + copy] + load, heir + load, copy);
    return out;
  }

  void Take(const KeyLoad& key, int salt) {
    const Placement::Positions ranks = RanksOf(key, salt);
    const auto load = static_cast<double>(key.load);
    run_ = (run_ > 0 && ranks[0] == last_home_ ? run_ + 1 : 1) % kTogether;
    last_home_ = ranks[0];
    homes_[ranks[0]] += load;
    if (ranks.size() < 2) return;
    copies_[ranks[1]] += load;
    both_[ranks[0] * shares_.size() + ranks[1]] += load;
  }

  const Placement placement_;
  std::vector<double> shares_;  // by position in members(); of all, 1
  double total_ = 0;
  double begun_ = 0;  // of placed keys, or keys like the next one
  int64_t scores_left_ = kScoresMax;
  size_t last_home_ = 0;
  int run_ = 0;  // keys that it took last, and of which the next is a neighbour
  // Loads, by position: as home, as first copy, and of each home's at each.
  std::vector<double> homes_;
  std::vector<double> copies_;
  std::vector<double> both_;
  const bool wants_more_;
};

}  // namespace

KeySalts BalancedSalts(const std::vector<PlacementMember>& members,
                       int replicas, std::vector<KeyLoad> keys) {
  const auto key_count = std::ssize(keys);
  const auto member_count = std::ssize(members);
  if (member_count < 2 || member_count > kBalancedMembersMax || key_count < 2 ||
      key_count > kBalancedKeysMax ||
      key_count * member_count > kScoresMax / 4) {
    return {};
  }
  std::stable_sort(
      keys.begin(), keys.end(),
      [](const KeyLoad& a, const KeyLoad& b) { return a.load > b.load; });
  Balancer balancer(members, replicas, keys);
  KeySalts out;
  for (auto like = keys.begin(); like != keys.end();) {
    const auto end = std::find_if(like, keys.end(), [&](const KeyLoad& key) {
      return key.load != like->load;
    });
    balancer.BeginLike({&*like, static_cast<size_t>(end - like)});
    for (; like != end; ++like) {
      const uint8_t salt = balancer.Place(*like);
      if (salt > 0) out.emplace(like->key, salt);
    }
  }
  return out;
}

}  // namespace dogged

#include "routing/model/scale.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "routing/plans/routing_table.h"
#include "routing/topology/topology_id.h"
#include "runtime/base/check.h"
#include "runtime/base/hash.h"

namespace dogged {
namespace {

AgentId IdOfPlace(int64_t place) {
  return AgentId(static_cast<uint64_t>(place) + 1);
}
int64_t PlaceOf(AgentId id) { return static_cast<int64_t>(id.value()) - 1; }

// The model as a planner sees it at one agent.
class ModelScene : public PlanScene {
 public:
  ModelScene(const ScaleModel& model, const std::vector<TopologyId>& ids,
             int64_t at, bool at_source)
      : model_(model), ids_(ids), at_(at), at_source_(at_source) {}
  AgentId self() const override { return IdOfPlace(at_); }
  const TopologyId* IdOf(AgentId agent) const override {
    return &ids_[PlaceOf(agent)];
  }
  AgentId NextHopTo(AgentId target) const override {
    return IdOfPlace(model_.NextHop(at_, PlaceOf(target)));
  }
  bool at_source() const override { return at_source_; }

 private:
  const ScaleModel& model_;
  const std::vector<TopologyId>& ids_;
  int64_t at_;
  bool at_source_;
};

}  // namespace

ScaleModel::ScaleModel(int64_t agents, int base, uint64_t seed)
    : base_(base), digits_(DigitsFor(agents, base)) {
  // Draws `agents` of all IDs, each as likely as any other.
  Rng rng(seed);
  const auto all = static_cast<int64_t>(Power(digits_));
  int64_t wanted = agents;
  for (int64_t id = 0; id < all && wanted > 0; ++id) {
    if (rng.Below(all - id) >= wanted) continue;
    ids_.push_back(static_cast<uint64_t>(id));
    --wanted;
  }
}

uint64_t ScaleModel::Power(int exponent) const {
  uint64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= static_cast<uint64_t>(base_);
  return power;
}

int ScaleModel::DigitOf(uint64_t id, int level) const {
  return static_cast<int>(id / Power(digits_ - 1 - level) %
                          static_cast<uint64_t>(base_));
}

int ScaleModel::CommonPrefix(uint64_t a, uint64_t b) const {
  int level = 0;
  while (level < digits_ && DigitOf(a, level) == DigitOf(b, level)) ++level;
  return level;
}

int64_t ScaleModel::Pick(uint64_t id, int level, int digit) const {
  const uint64_t span = Power(digits_ - 1 - level);
  const uint64_t above = span * static_cast<uint64_t>(base_);
  const uint64_t first =
      id / above * above + static_cast<uint64_t>(digit) * span;
  const auto begin = std::lower_bound(ids_.begin(), ids_.end(), first);
  const auto end = std::lower_bound(begin, ids_.end(), first + span);
  if (begin == end) return -1;
  const uint64_t hash = Mix64(id, first + static_cast<uint64_t>(level));
  const auto offset =
      static_cast<int64_t>(hash % static_cast<uint64_t>(end - begin));
  return begin - ids_.begin() + offset;
}

int64_t ScaleModel::Entry(int64_t agent, int level, int digit) const {
  const uint64_t id = ids_[agent];
  return DigitOf(id, level) == digit ? -1 : Pick(id, level, digit);
}

int64_t ScaleModel::NextHop(int64_t agent, int64_t target) const {
  const uint64_t to = ids_[target];
  const int level = CommonPrefix(ids_[agent], to);
  DOGGED_CHECK(level < digits_);
  return Entry(agent, level, DigitOf(to, level));
}

int64_t ScaleModel::table_bytes() const {
  const std::string zeros(digits_, '\0');
  return RoutingTable(AgentId(1), *TopologyId::FromDigits(base_, zeros), View())
      .bytes();
}

ScaleModel::Tree ScaleModel::Multicast(MulticastPlan plan, int64_t source,
                                       const std::vector<int64_t>& destinations,
                                       int number) const {
  // The other planners look at IDs, the prefix planner at next hops alone.
  std::vector<TopologyId> ids;
  for (uint64_t id : ids_) {
    std::string digits;
    for (int level = 0; level < digits_; ++level) {
      digits.push_back(static_cast<char>(DigitOf(id, level)));
    }
    ids.push_back(*TopologyId::FromDigits(base_, digits));
  }
  struct Share {
    int64_t at = 0;
    int depth = 0;
    std::vector<AgentId> targets;
  };
  const Planner& planner = PlannerOf(plan);
  Share root{source, 0, {}};
  for (int64_t place : destinations) root.targets.push_back(IdOfPlace(place));
  planner.Order(ModelScene(*this, ids, source, true), number, root.targets);
  Tree tree;
  tree.parents = {-1};
  tree.places = {source};
  std::deque<std::pair<int64_t, Share>> open;  // position, share
  open.emplace_back(0, std::move(root));
  while (!open.empty()) {
    const auto [position, share] = std::move(open.front());
    open.pop_front();
    for (Branch& branch : planner.Split(
             ModelScene(*this, ids, share.at, position == 0), share.targets)) {
      Share next{PlaceOf(branch.hop), share.depth + 1, {}};
      bool is_destination = false;
      for (AgentId target : branch.targets) {
        if (target == branch.hop) {
          is_destination = true;
        } else {
          next.targets.push_back(target);
        }
      }
      ++tree.messages;
      tree.relays += !is_destination;
      tree.depth = std::max(tree.depth, next.depth);
      tree.parents.push_back(position);
      tree.places.push_back(next.at);
      const auto at = std::ssize(tree.parents) - 1;
      if (!next.targets.empty()) open.emplace_back(at, std::move(next));
    }
  }
  return tree;
}

ScaleModel::JoinResult ScaleModel::Join(Rng& rng) const {
  const auto all = static_cast<int64_t>(Power(digits_));
  uint64_t id = 0;
  do {
    id = static_cast<uint64_t>(rng.Below(all));
  } while (std::binary_search(ids_.begin(), ids_.end(), id));
  JoinResult result;
  // By level and digit; none yet.
  std::vector<int64_t> table(digits_ * base_, -1);
  int64_t asked = rng.Below(size());
  while (asked >= 0) {
    // The asked agent sends the rows from that level to the last one that the
    // two share, and is itself an entry of the row where they part.
    result.messages += 2;
    const uint64_t other = ids_[asked];
    const int shared = CommonPrefix(id, other);
    for (int level = 0; level <= shared && level < digits_; ++level) {
      for (int digit = 0; digit < base_; ++digit) {
        int64_t& entry = table[level * base_ + digit];
        const bool is_own = DigitOf(id, level) == digit;
        if (entry < 0 && !is_own) entry = Entry(asked, level, digit);
      }
    }
    table[shared * base_ + DigitOf(other, shared)] = asked;
    // An agent nearer to the newcomer, which the asked agent knows.
    asked = Entry(asked, shared, DigitOf(id, shared));
  }
  for (int level = 0; level < digits_; ++level) {
    for (int digit = 0; digit < base_; ++digit) {
      if (DigitOf(id, level) == digit) continue;
      const int64_t entry = table[level * base_ + digit];
      const bool somebody = Pick(id, level, digit) >= 0;
      result.entries += entry >= 0;
      result.wrong += (entry >= 0) != somebody;
      if (entry < 0) continue;
      const uint64_t other = ids_[entry];
      result.wrong +=
          CommonPrefix(id, other) != level || DigitOf(other, level) != digit;
    }
  }
  return result;
}

}  // namespace dogged

#include "routing/plans/planner.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/plans/agent_schedule.h"
#include "runtime/base/check.h"
#include "runtime/base/hash.h"

namespace dogged {
namespace {

constexpr absl::string_view kNames[kMulticastPlanCount] = {
    "auto",  "prefix", "flat",     "binomial",
    "chain", "agents", "twotrees", "knomial"};

// More hops than this from one agent cost more than the level that they save.
constexpr int kKnomialRadix = 4;

// Differs: [MC] sends by way of the table's entry always. Here an entry that is
// no destination is replaced by a destination behind it, so that a multicast
// takes one message for each destination. Such a hop shares the same digits.
class PrefixPlanner : public Planner {
 public:
  // Every hop looks each target up by itself.
  void Order(const PlanScene&, int, std::vector<AgentId>&) const override {}
  std::vector<Branch> Split(const PlanScene& scene,
                            absl::Span<const AgentId> targets) const override {
    // In order of IDs; the simulation replays it.
    std::map<AgentId, std::vector<AgentId>> by_hop;
    for (AgentId target : targets) {
      by_hop[scene.NextHopTo(target)].push_back(target);
    }
    std::vector<Branch> branches;
    for (auto& [entry, behind] : by_hop) {
      const AgentId hop = HopAmong(scene.self(), entry, behind);
      branches.push_back({hop, std::move(behind)});
    }
    // The branch with most to forward goes first.
    std::stable_sort(branches.begin(), branches.end(),
                     [](const Branch& a, const Branch& b) {
                       return a.targets.size() > b.targets.size();
                     });
    return branches;
  }

 private:
  // `entry` if it is among `targets`, else one of them by a hash, so that
  // sources burden different agents.
  static AgentId HopAmong(AgentId self, AgentId entry,
                          absl::Span<const AgentId> targets) {
    const auto weight = [self](AgentId id) {
      return Mix64(self.value(), id.value());
    };
    AgentId best = targets[0];
    for (AgentId target : targets) {
      if (target == entry) return entry;
      if (weight(target) > weight(best)) best = target;
    }
    return best;
  }
};

class FlatPlanner : public Planner {
 public:
  std::vector<Branch> Split(const PlanScene&,
                            absl::Span<const AgentId> targets) const override {
    std::vector<Branch> branches;
    for (AgentId target : targets) branches.push_back({target, {target}});
    return branches;
  }
};

// The agent with the list keeps a kth of it for itself and gives a kth to each
// of k - 1 agents, the farthest first; then so on with its own part.
class KnomialPlanner : public Planner {
 public:
  explicit KnomialPlanner(size_t radix) : radix_(radix) {}
  std::vector<Branch> Split(const PlanScene&,
                            absl::Span<const AgentId> targets) const override {
    std::vector<Branch> branches;
    while (!targets.empty()) {
      // A kth of all, this agent counted, rounded up.
      const size_t part = targets.size() / radix_ + 1;
      for (size_t i = 1; i < radix_ && !targets.empty(); ++i) {
        const size_t near = targets.size() - std::min(part, targets.size());
        const absl::Span<const AgentId> far = targets.subspan(near);
        branches.push_back({far[0], {far.begin(), far.end()}});
        targets = targets.first(near);
      }
    }
    return branches;
  }

 private:
  size_t radix_;
};

class ChainPlanner : public Planner {
 public:
  std::vector<Branch> Split(const PlanScene&,
                            absl::Span<const AgentId> targets) const override {
    if (targets.empty()) return {};
    return {{targets[0], {targets.begin(), targets.end()}}};
  }
};

// The tree of the digits of topology IDs.
class DigitTree {
 public:
  DigitTree() { tree_.AddNode(-1); }
  int Add(const TopologyId& id) {
    int node = 0;
    std::string prefix;
    for (char digit : id.digits()) {
      prefix.push_back(digit);
      const auto [it, is_new] = nodes_.try_emplace(prefix, 0);
      if (is_new) it->second = tree_.AddNode(node);
      node = it->second;
    }
    return tree_.AddMember(node);
  }
  const AgentTree& tree() const { return tree_; }

 private:
  AgentTree tree_;
  std::map<std::string, int> nodes_;
};

class AgentPlanner : public Planner {
 public:
  std::vector<Branch> Split(const PlanScene& scene,
                            absl::Span<const AgentId> targets) const override {
    DigitTree digits;
    std::vector<AgentId> members = {scene.self()};
    digits.Add(*scene.IdOf(scene.self()));
    for (AgentId target : targets) {
      digits.Add(*scene.IdOf(target));
      members.push_back(target);
    }
    const AgentSchedule schedule(digits.tree(), /*source=*/0);
    std::vector<Branch> branches;
    for (int first : schedule.sends()[0]) {
      // All that are reached through `first`.
      std::vector<int> reached = {first};
      Branch branch{members[first], {}};
      for (size_t i = 0; i < reached.size(); ++i) {
        const auto at = static_cast<size_t>(reached[i]);
        branch.targets.push_back(members[at]);
        const std::vector<int>& next = schedule.sends()[at];
        reached.insert(reached.end(), next.begin(), next.end());
      }
      branches.push_back(std::move(branch));
    }
    return branches;
  }
};

// Two binary trees over one list, in order. In the first, agents at even places
// (from 0) are leaves; the second is the first, of the list turned by one,
// where those are the inner ones. So everybody sends about as much as it gets,
// and no port is idle [Sanders, Speck & Träff 2009, Two-tree algorithms for
// full bandwidth broadcast, section 2].
// Differs: theirs are coloured, so that nobody has two segments to take at
// once; here the later one waits.
class TwoTreesPlanner : public Planner {
 public:
  int tree_count() const override { return 2; }
  void Order(const PlanScene& scene, int tree,
             std::vector<AgentId>& targets) const override {
    Planner::Order(scene, tree, targets);
    if (tree == 1 && !targets.empty()) {
      std::rotate(targets.begin(), targets.begin() + 1, targets.end());
    }
  }
  std::vector<Branch> Split(const PlanScene& scene,
                            absl::Span<const AgentId> targets) const override {
    std::vector<Branch> branches;
    const auto add = [&branches](absl::Span<const AgentId> part) {
      if (part.empty()) return;
      const size_t root = RootOf(part.size());
      branches.push_back({part[root], {part.begin(), part.end()}});
    };
    if (scene.at_source()) {
      add(targets);
    } else {
      // Without this agent, which stood between them.
      const size_t before = RootOf(targets.size() + 1);
      add(targets.first(before));
      add(targets.subspan(before));
    }
    // The deeper side first.
    std::stable_sort(branches.begin(), branches.end(),
                     [](const Branch& a, const Branch& b) {
                       return a.targets.size() > b.targets.size();
                     });
    return branches;
  }

 private:
  // An odd place near the middle, if there is one.
  static size_t RootOf(size_t size) { return size < 2 ? 0 : size / 4 * 2 + 1; }
};

// The digits of `id` seen from `self`: zeros as far as they agree.
std::string SeenFrom(const TopologyId& self, const TopologyId& id) {
  std::string seen(id.digits());
  const int base = std::max(self.base(), id.base());
  for (int i = 0; i < std::min(self.size(), id.size()); ++i) {
    seen[i] = static_cast<char>((id.digit(i) - self.digit(i) + base) % base);
  }
  return seen;
}

}  // namespace

absl::StatusOr<MulticastPlan> ParseMulticastPlan(absl::string_view text) {
  for (int i = 0; i < kMulticastPlanCount; ++i) {
    if (kNames[i] == text) return static_cast<MulticastPlan>(i);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "multicast plan \"", text, "\": none of ", absl::StrJoin(kNames, ", ")));
}

absl::string_view MulticastPlanName(MulticastPlan plan) {
  return kNames[static_cast<int>(plan)];
}

std::vector<std::string> MulticastPlanNames() {
  std::vector<std::string> names;
  for (absl::string_view name : kNames) names.emplace_back(name);
  return names;
}

void Planner::Order(const PlanScene& scene, int,
                    std::vector<AgentId>& targets) const {
  const TopologyId& self = *scene.IdOf(scene.self());
  std::vector<std::pair<std::string, AgentId>> keyed;
  for (AgentId target : targets) {
    keyed.emplace_back(SeenFrom(self, *scene.IdOf(target)), target);
  }
  std::sort(keyed.begin(), keyed.end());
  for (size_t i = 0; i < keyed.size(); ++i) targets[i] = keyed[i].second;
}

const Planner& PlannerOf(MulticastPlan plan) {
  static const PrefixPlanner prefix;
  static const FlatPlanner flat;
  static const KnomialPlanner binomial(2);
  static const ChainPlanner chain;
  static const AgentPlanner agents;
  static const TwoTreesPlanner two_trees;
  static const KnomialPlanner knomial(kKnomialRadix);
  switch (plan) {
    case MulticastPlan::kAuto:
      break;
    case MulticastPlan::kPrefix:
      return prefix;
    case MulticastPlan::kFlat:
      return flat;
    case MulticastPlan::kBinomial:
      return binomial;
    case MulticastPlan::kChain:
      return chain;
    case MulticastPlan::kAgents:
      return agents;
    case MulticastPlan::kTwoTrees:
      return two_trees;
    case MulticastPlan::kKnomial:
      return knomial;
  }
  DOGGED_CHECK(false) << "no planner " << static_cast<int>(plan);
  return flat;
}

MulticastPlan ChoosePlan(int64_t bytes, int64_t targets, int64_t hosts) {
  constexpr int64_t kWholeBytesMax = 2048;  // limits.stream_bytes_min
  // Bytes that the source may send by itself: about as many as its line carries
  // while a relay would pass a message on. Each message has a list and headers,
  // too.
  constexpr int64_t kFlatBytesMax = 3072;
  constexpr int64_t kHeaderBytes = 200;
  constexpr int64_t kFewMax = 64;
  constexpr int64_t kLargeBytes = 8 * 1024;
  // On one host all copies cross the same memory, in any plan.
  if (targets <= 1 || hosts <= 1) return MulticastPlan::kFlat;
  if (targets > kFewMax) {
    // By the table an agent has few neighbours, for a step or two more.
    return bytes < kLargeBytes ? MulticastPlan::kPrefix
                               : MulticastPlan::kTwoTrees;
  }
  if (bytes > kWholeBytesMax) return MulticastPlan::kChain;
  const auto fits = [bytes](int64_t copies) {
    return copies * (bytes + kHeaderBytes) <= kFlatBytesMax;
  };
  if (fits(targets)) return MulticastPlan::kFlat;
  const int64_t levels = DigitsFor(targets + 1, kKnomialRadix);
  return fits((kKnomialRadix - 1) * levels) ? MulticastPlan::kKnomial
                                            : MulticastPlan::kBinomial;
}

int64_t SegmentBytesFor(MulticastPlan plan, int64_t bytes, int64_t targets,
                        int64_t bytes_max) {
  // Cost of a segment beside its bytes: headers, and the processor's time
  // expressed in bytes of the line. See docs/ROUTING.md.
  constexpr double kOverheadBytes = 2500;
  constexpr int64_t kLeast = 1024;
  int64_t hops = DigitsFor(targets + 1, 2);
  if (plan == MulticastPlan::kChain) hops = targets;
  if (plan == MulticastPlan::kFlat || hops <= 1) return bytes_max;
  const auto best = static_cast<int64_t>(
      std::sqrt(static_cast<double>(bytes) * kOverheadBytes /
                static_cast<double>(hops - 1)));
  return std::clamp((best + kLeast / 2) / kLeast * kLeast, kLeast,
                    std::max(kLeast, bytes_max));
}

}  // namespace dogged

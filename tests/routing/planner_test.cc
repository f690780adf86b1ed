// Aim: each plan is the tree it says, for any topology; the agent-based one
// keeps to the definitions of [AG 3.1]. Method: random scenes; trees by hand.
#include "routing/plans/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/plans/agent_schedule.h"
#include "routing/plans/routing_table.h"
#include "runtime/base/limits.h"
#include "runtime/base/random.h"

namespace dogged {
namespace {

class Scene : public PlanScene {
 public:
  Scene(AgentId self, const View& view, bool at_source)
      : self_(self),
        at_source_(at_source),
        view_(view),
        table_(self, view.Find(self)->topology_id, view) {}
  AgentId self() const override { return self_; }
  const TopologyId* IdOf(AgentId agent) const override {
    return &view_.Find(agent)->topology_id;
  }
  AgentId NextHopTo(AgentId target) const override {
    return NextHop(table_, *view_.Find(target));
  }
  bool at_source() const override { return at_source_; }

 private:
  AgentId self_;
  bool at_source_;
  const View& view_;
  RoutingTable table_;
};

View RandomView(Rng& rng, int base, int digits, int64_t count) {
  std::vector<Member> members;
  for (int64_t i = 0; i < count; ++i) {
    std::string text;
    for (int k = 0; k < digits; ++k) {
      text.push_back(static_cast<char>(rng.Below(base)));
    }
    Member member;
    member.id = AgentId(rng.Next() | 1);
    member.topology_id = *TopologyId::FromDigits(base, text);
    members.push_back(member);
  }
  return View(members);
}

// The whole tree: the step in which each agent gets the body, with a send in
// each step.
struct Tree {
  std::map<AgentId, int> depth;
  std::map<AgentId, int> sends;
  std::map<AgentId, int> received_at;  // one-port: a send a step
};

Tree Grow(MulticastPlan plan, const View& view, AgentId source,
          std::vector<AgentId> targets, int number = 0) {
  Tree tree;
  struct Share {
    AgentId at;
    std::vector<AgentId> targets;
  };
  const Planner& planner = PlannerOf(plan);
  planner.Order(Scene(source, view, true), number, targets);
  std::vector<Share> shares = {{source, targets}};
  for (size_t i = 0; i < shares.size(); ++i) {
    const Share share = shares[i];
    std::vector<AgentId> rest = share.targets;
    rest.erase(std::remove(rest.begin(), rest.end(), share.at), rest.end());
    int step = tree.received_at[share.at];
    std::vector<AgentId> handed;
    for (Branch& branch :
         planner.Split(Scene(share.at, view, share.at == source), rest)) {
      EXPECT_FALSE(branch.targets.empty());
      handed.insert(handed.end(), branch.targets.begin(), branch.targets.end());
      EXPECT_NE(branch.hop, source);
      EXPECT_TRUE(
          tree.depth.emplace(branch.hop, tree.depth[share.at] + 1).second)
          << branch.hop.ToString() << " gets it twice";
      tree.received_at[branch.hop] = ++step;
      ++tree.sends[share.at];
      shares.push_back({branch.hop, std::move(branch.targets)});
    }
    // Each is in exactly one branch.
    std::sort(handed.begin(), handed.end());
    std::sort(rest.begin(), rest.end());
    EXPECT_EQ(handed, rest);
    EXPECT_LT(shares.size(), 10'000u);
  }
  return tree;
}

TEST(Planner, TreesAreWhatTheySay) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const View view =
        RandomView(rng, 2 + static_cast<int>(rng.Below(6)),
                   4 + static_cast<int>(rng.Below(3)), 2 + rng.Below(50));
    const AgentId source = view.members()[0].id;
    std::vector<AgentId> targets;
    for (const Member& member : view.members()) {
      if (member.id != source && rng.Chance(0.7)) targets.push_back(member.id);
    }
    for (int p = 1; p < kMulticastPlanCount; ++p) {
      const auto plan = static_cast<MulticastPlan>(p);
      SCOPED_TRACE(MulticastPlanName(plan));
      // All trees have to be right; the bounds below are checked for one.
      for (int k = 1; k < PlannerOf(plan).tree_count(); ++k) {
        const Tree other = Grow(plan, view, source, targets, k);
        for (AgentId target : targets) {
          ASSERT_TRUE(other.depth.contains(target));
        }
      }
      const Tree tree = Grow(plan, view, source, targets);
      int deepest = 0;
      int latest = 0;
      for (AgentId target : targets) {
        ASSERT_TRUE(tree.depth.contains(target));
        deepest = std::max(deepest, tree.depth.at(target));
        latest = std::max(latest, tree.received_at.at(target));
      }
      // Only destinations relay.
      EXPECT_EQ(tree.depth.size(), targets.size() + 1 - targets.empty());
      const auto count = static_cast<int>(targets.size());
      if (plan == MulticastPlan::kFlat) {
        EXPECT_LE(deepest, 1);
      }
      if (plan == MulticastPlan::kChain) {
        EXPECT_EQ(deepest, count);
        for (const auto& [id, sends] : tree.sends) EXPECT_EQ(sends, 1);
      }
      if (plan == MulticastPlan::kBinomial && count > 0) {
        EXPECT_EQ(latest, DigitsFor(count + 1, 2));
      }
      if (plan == MulticastPlan::kKnomial && count > 0) {
        const int levels = DigitsFor(count + 1, 4);
        EXPECT_LE(deepest, levels);
        for (const auto& [id, sends] : tree.sends) {
          EXPECT_LE(sends, 3 * levels);
        }
      }
    }
  }
}

// Each message is for all targets behind an entry of the table, and goes to one
// of them: to the entry if it is one, so that an agent has few neighbours.
TEST(Planner, PrefixSendsNoMoreThanAMessageForEachTarget) {
  int64_t relayed = 0;
  int64_t replaced = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    const View view = RandomView(rng, 3, 4, 40);
    const Scene scene(view.members()[0].id, view, /*at_source=*/true);
    std::vector<AgentId> targets;
    for (size_t i = 1; i < view.members().size(); ++i) {
      if (rng.Chance(0.5)) targets.push_back(view.members()[i].id);
    }
    size_t placed = 0;
    std::set<AgentId> entries;
    for (const Branch& branch :
         PlannerOf(MulticastPlan::kPrefix).Split(scene, targets)) {
      placed += branch.targets.size();
      relayed += branch.targets.size() > 1 ? 1 : 0;
      const AgentId entry = scene.NextHopTo(branch.targets[0]);
      EXPECT_TRUE(entries.insert(entry).second) << "seed " << seed;
      for (const AgentId target : branch.targets) {
        EXPECT_EQ(scene.NextHopTo(target), entry) << "seed " << seed;
      }
      const auto is_target = [&branch](AgentId id) {
        return std::count(branch.targets.begin(), branch.targets.end(), id) > 0;
      };
      EXPECT_TRUE(is_target(branch.hop)) << "seed " << seed;
      EXPECT_TRUE(branch.hop == entry || !is_target(entry)) << "seed " << seed;
      replaced += branch.hop == entry ? 0 : 1;
    }
    EXPECT_EQ(placed, targets.size());
  }
  EXPECT_GT(relayed, 0);
  EXPECT_GT(replaced, 0);
}

// A destination that stands in for an entry differs from source to source.
TEST(Planner, SourcesPutDifferentDestinationsForAnEntry) {
  Rng rng(5);
  const View view = RandomView(rng, 2, 6, 64);
  std::vector<AgentId> targets;
  for (const Member& member : view.members()) {
    if (member.topology_id.digit(0) == 1 && rng.Chance(0.3)) {
      targets.push_back(member.id);
    }
  }
  ASSERT_GT(targets.size(), 5);
  std::set<AgentId> hops;
  for (const Member& source : view.members()) {
    if (source.topology_id.digit(0) != 0) continue;
    for (const Branch& branch :
         PlannerOf(MulticastPlan::kPrefix)
             .Split(Scene(source.id, view, true), targets)) {
      hops.insert(branch.hop);
    }
  }
  EXPECT_GT(hops.size(), 3);
}

// Each of the two trees is as deep as a binary tree must be; an agent that
// sends in one is a leaf of the other, so no agent sends more than it gets.
TEST(Planner, TwoTreesShareTheWork) {
  Rng rng(7);
  for (int64_t count = 2; count < 130; ++count) {
    SCOPED_TRACE(count);
    const View view = RandomView(rng, 4, 5, count);
    const AgentId source = view.members()[0].id;
    std::vector<AgentId> targets;
    for (const Member& member : view.members()) {
      if (member.id != source) targets.push_back(member.id);
    }
    const Tree first = Grow(MulticastPlan::kTwoTrees, view, source, targets, 0);
    const Tree second =
        Grow(MulticastPlan::kTwoTrees, view, source, targets, 1);
    for (const bool is_first : {true, false}) {
      const Tree& tree = is_first ? first : second;
      for (AgentId target : targets) {
        ASSERT_TRUE(tree.depth.contains(target));
        EXPECT_LE(tree.depth.at(target), DigitsFor(count + 1, 2) + 1);
        if (!tree.sends.contains(target)) continue;
        EXPECT_LE(tree.sends.at(target), 2);
        EXPECT_FALSE((is_first ? second : first).sends.contains(target));
      }
      EXPECT_EQ(tree.sends.at(source), 1);
    }
  }
}

// Sources start with different agents, or one would serve them all.
TEST(Planner, SourcesStartWithDifferentAgents) {
  Rng rng(3);
  const View view = RandomView(rng, 4, 4, 40);
  std::set<AgentId> firsts;
  for (const Member& source : view.members()) {
    std::vector<AgentId> targets;
    for (const Member& member : view.members()) {
      if (member.id != source.id) targets.push_back(member.id);
    }
    PlannerOf(MulticastPlan::kChain)
        .Order(Scene(source.id, view, true), 0, targets);
    firsts.insert(targets.front());
    // Nearest first.
    int last = 100;
    for (AgentId target : targets) {
      const int prefix =
          CommonPrefix(source.topology_id, view.Find(target)->topology_id);
      EXPECT_LE(prefix, last);
      last = prefix;
    }
  }
  EXPECT_GT(firsts.size(), 30);
}

TEST(Planner, NamesReadBack) {
  for (int p = 0; p < kMulticastPlanCount; ++p) {
    const auto plan = static_cast<MulticastPlan>(p);
    EXPECT_EQ(ParseMulticastPlan(MulticastPlanName(plan)).value(), plan);
  }
  EXPECT_EQ(ParseMulticastPlan("tree").status().message(),
            "multicast plan \"tree\": none of auto, prefix, flat, binomial, "
            "chain, agents, twotrees, knomial");
}

// A root switch without destinations over two leaves with 3 and 1 of them:
// "we define ... the agent from these subtrees that has the highest cost".
TEST(AgentSchedule, AgentsAndCostsByHand) {
  AgentTree tree;
  const int root = tree.AddNode(-1);
  const int left = tree.AddNode(root);
  const int right = tree.AddNode(root);
  const int empty = tree.AddNode(root);
  for (int i = 0; i < 3; ++i) tree.AddMember(left);  // 0, 1, 2
  tree.AddMember(right);                             // 3
  const AgentSchedule schedule(tree, -1);
  EXPECT_EQ(schedule.agent(empty), -1);
  EXPECT_EQ(schedule.cost(empty), 0);
  EXPECT_EQ(schedule.agent(right), 3);
  EXPECT_EQ(schedule.cost(right), 0);
  EXPECT_EQ(schedule.cost(left), 2);  // log2 of 3, rounded up
  EXPECT_EQ(schedule.agent(left), 0);
  EXPECT_EQ(schedule.agent(root), 0);
  EXPECT_EQ(schedule.cost(root), 3);
  EXPECT_EQ(schedule.sends()[0], (std::vector<int>{3, 1, 2}));
  EXPECT_EQ(schedule.sends()[1], std::vector<int>{});
  // With a source in the other subtree, that is the agent up to the root.
  const AgentSchedule from(tree, 3);
  EXPECT_EQ(from.agent(root), 3);
  EXPECT_EQ(from.agent(left), 0);
  EXPECT_EQ(from.sends()[3], std::vector<int>{0});
}

// "If |D(m,v)| > 0, we pick an arbitrary destination of m in D(m,v)", and
// ForwardInSwitch serves the agent of a costly subtree before the rest.
TEST(AgentSchedule, ForwardsInSwitch) {
  AgentTree tree;
  const int root = tree.AddNode(-1);
  const int below = tree.AddNode(root);
  for (int i = 0; i < 8; ++i) tree.AddMember(below);  // 0 to 7: cost 3
  tree.AddMember(root);                               // 8
  tree.AddMember(root);                               // 9
  const AgentSchedule schedule(tree, -1);
  EXPECT_EQ(schedule.agent(root), 8);
  EXPECT_EQ(schedule.sends()[8], (std::vector<int>{0, 9}));
  EXPECT_EQ(schedule.cost(root), 4);
}

// Costs are those of the sends: played out, the last one gets it then.
TEST(AgentSchedule, CostsAreThoseOfTheSends) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    AgentTree tree;
    tree.AddNode(-1);
    for (int64_t i = rng.Below(12); i > 0; --i) {
      tree.AddNode(static_cast<int>(rng.Below(std::ssize(tree.nodes))));
    }
    for (int64_t i = 1 + rng.Below(40); i > 0; --i) {
      tree.AddMember(static_cast<int>(rng.Below(std::ssize(tree.nodes))));
    }
    const int source =
        rng.Chance(0.5) ? static_cast<int>(rng.Below(tree.member_count)) : -1;
    const AgentSchedule schedule(tree, source);
    std::vector<int> got(static_cast<size_t>(tree.member_count), -1);
    std::vector<int> order = {schedule.agent(0)};
    got[order[0]] = 0;
    int last = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      int at = got[order[i]];
      for (int to : schedule.sends()[order[i]]) {
        EXPECT_EQ(got[to], -1) << "twice";
        got[to] = ++at;
        last = std::max(last, at);
        order.push_back(to);
      }
    }
    EXPECT_EQ(std::ssize(order), tree.member_count);
    EXPECT_EQ(last, schedule.cost(0));
  }
}

// As docs/ROUTING.md says.
TEST(Planner, TheDefaultGoesBySizeAndGroup) {
  struct Case {
    int64_t bytes, targets, hosts;
    MulticastPlan plan;
  };
  for (const Case& one : std::vector<Case>{
           {1 << 20, 1, 16, MulticastPlan::kFlat},
           {1 << 20, 7, 1, MulticastPlan::kFlat},
           {64, 3, 16, MulticastPlan::kFlat},
           {64, 15, 16, MulticastPlan::kKnomial},
           {1024, 15, 16, MulticastPlan::kBinomial},
           {2048, 3, 16, MulticastPlan::kBinomial},
           {2049, 3, 16, MulticastPlan::kChain},
           {1 << 20, 64, 100, MulticastPlan::kChain},
           {64, 65, 100, MulticastPlan::kPrefix},
           {8 << 10, 65, 100, MulticastPlan::kTwoTrees},
       }) {
    EXPECT_EQ(ChoosePlan(one.bytes, one.targets, one.hosts), one.plan)
        << one.bytes << " bytes to " << one.targets << " on " << one.hosts;
  }
  EXPECT_EQ(Limits().stream_bytes_min, 2048) << "what travels whole";
}

}  // namespace
}  // namespace dogged

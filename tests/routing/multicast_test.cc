// Aim: the promises of [MC] hold for random views with holes: each destination
// once, at most as many steps as digits, no loop; also with clashing IDs, with
// views that differ between hops, and in segments.
// Method: machines on a network in memory, from seeds.
#include "routing/multicast/multicast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/random.h"
#include "tests/routing/multicast_cluster.h"

namespace dogged {
namespace {

struct Scene {
  std::vector<Member> members;
  int digits = 0;
  bool unique = true;  // no two topology IDs are equal
};

Scene RandomScene(Rng& rng) {
  Scene scene;
  const int base = 2 + static_cast<int>(rng.Below(9));
  scene.digits = 1 + static_cast<int>(rng.Below(6));
  std::set<std::string> used;
  const int64_t count = 2 + rng.Below(50);
  for (int64_t i = 0; i < count; ++i) {
    std::string digits;
    for (int k = 0; k < scene.digits; ++k) {
      digits.push_back(static_cast<char>(rng.Below(base)));
    }
    scene.unique = used.insert(digits).second && scene.unique;
    Member member;
    member.id = AgentId(rng.Next() | 1);
    member.topology_id = *TopologyId::FromDigits(base, digits);
    scene.members.push_back(member);
  }
  return scene;
}

AgentId AnyOf(Rng& rng, const Scene& scene) {
  return scene.members[rng.Below(std::ssize(scene.members))].id;
}

std::vector<AgentId> SomeOf(Rng& rng, const Scene& scene, AgentId except) {
  std::vector<AgentId> some;
  const double share = rng.Unit();
  for (const Member& member : scene.members) {
    if (member.id != except && rng.Chance(share)) some.push_back(member.id);
  }
  return some;
}

// From which part of the table `from` has the agents that it writes to.
std::set<std::pair<int, int>> EntriesUsed(const Scene& scene,
                                          const MulticastCluster& cluster,
                                          AgentId from, int64_t& sent) {
  std::map<AgentId, const Member*> members;
  for (const Member& member : scene.members) members[member.id] = &member;
  const TopologyId& own = members.at(from)->topology_id;
  std::set<std::pair<int, int>> used;
  sent = 0;
  for (const MulticastCluster::Hop& hop : cluster.hops) {
    if (hop.from != from) continue;
    ++sent;
    const TopologyId& to = members.at(hop.to)->topology_id;
    const int level = CommonPrefix(own, to);
    used.insert({level, level < to.size() ? to.digit(level) : -1});
  }
  return used;
}

// Section 5: a single message for all destinations behind an entry of the
// table.
TEST(Multicast, PrefixSendsByRelays) {
  int64_t relayed = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const Scene scene = RandomScene(rng);
    if (!scene.unique) continue;
    MulticastCluster cluster(scene.members, MulticastPlan::kPrefix, Limits());
    const AgentId source = AnyOf(rng, scene);
    ASSERT_TRUE(cluster.Run(source, SomeOf(rng, scene, source), Bytes()));
    for (const Member& member : scene.members) {
      int64_t sent = 0;
      const auto used = EntriesUsed(scene, cluster, member.id, sent);
      EXPECT_EQ(std::ssize(used), sent) << member.id.ToString();
    }
    relayed += std::count_if(cluster.hops.begin(), cluster.hops.end(),
                             [](const auto& hop) { return hop.step > 1; });
  }
  EXPECT_GT(relayed, 0);
}

// Theorem 1 and 2, and "every destination exactly once".
TEST(Multicast, ReachesEachDestinationOnceInAtMostDigitsSteps) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const Scene scene = RandomScene(rng);
    MulticastCluster cluster(scene.members, MulticastPlan::kPrefix, Limits());
    const AgentId source = AnyOf(rng, scene);
    const std::vector<AgentId> targets = SomeOf(rng, scene, source);
    ASSERT_TRUE(cluster.Run(source, targets, Bytes(std::string("body"))));
    ASSERT_EQ(cluster.delivered.size(), targets.size());
    for (AgentId target : targets) {
      ASSERT_EQ(cluster.delivered[target].size(), 1);
      const Delivery& delivery = cluster.delivered[target][0];
      EXPECT_EQ(delivery.origin, source);
      EXPECT_EQ(delivery.kind, 77);
      EXPECT_EQ(delivery.job, JobId(3));
      EXPECT_EQ(delivery.body.view(), "body");
    }
    std::set<AgentId> visited;
    for (const MulticastCluster::Hop& hop : cluster.hops) {
      // Two agents with one ID cost a step of their own.
      EXPECT_LE(hop.step, scene.digits + (scene.unique ? 0 : 1));
      EXPECT_TRUE(visited.insert(hop.to).second || !scene.unique);
    }
  }
}

TEST(Multicast, FlatSendsToEachDirectly) {
  Rng rng(1);
  const Scene scene = RandomScene(rng);
  MulticastCluster cluster(scene.members, MulticastPlan::kFlat, Limits());
  const AgentId source = AnyOf(rng, scene);
  const std::vector<AgentId> targets = SomeOf(rng, scene, source);
  ASSERT_TRUE(cluster.Run(source, targets, Bytes()));
  EXPECT_EQ(cluster.hops.size(), targets.size());
  EXPECT_EQ(cluster.delivered.size(), targets.size());
  EXPECT_EQ(ParseMulticastPlan("flat").value(), MulticastPlan::kFlat);
  EXPECT_EQ(ParseMulticastPlan("prefix").value(), MulticastPlan::kPrefix);
  EXPECT_FALSE(ParseMulticastPlan("tree").ok());
}

// Every hop has a view of its own: no loop, no agent twice, and an agent in all
// views gets it whatever else the views say.
TEST(Multicast, NeverLoopsWhenViewsDiffer) {
  int64_t relayed = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const Scene scene = RandomScene(rng);
    MulticastCluster cluster(scene.members, MulticastPlan::kPrefix, Limits());
    const AgentId source = AnyOf(rng, scene);
    const std::vector<AgentId> targets = SomeOf(rng, scene, source);
    const std::set<AgentId> wanted(targets.begin(), targets.end());
    const bool targets_known = rng.Chance(0.5);
    for (const Member& owner : scene.members) {
      std::vector<Member> seen;
      for (const Member& member : scene.members) {
        const bool kept = member.id == owner.id || rng.Chance(0.7) ||
                          (targets_known && wanted.contains(member.id));
        if (kept) seen.push_back(member);
      }
      cluster.SetView(owner.id, std::make_shared<const View>(seen));
    }
    ASSERT_TRUE(cluster.Run(source, targets, Bytes(std::string("b")), 10'000));
    for (const MulticastCluster::Hop& hop : cluster.hops) {
      EXPECT_LE(hop.step, scene.digits + 1);
      relayed += hop.step > 1 ? 1 : 0;
    }
    for (const auto& [id, deliveries] : cluster.delivered) {
      EXPECT_TRUE(wanted.contains(id));
      EXPECT_EQ(deliveries.size(), 1);
    }
    EXPECT_TRUE(!targets_known || cluster.delivered.size() == targets.size());
  }
  EXPECT_GT(relayed, 0);
}

TEST(Multicast, LongBodiesTravelInSegments) {
  Rng rng(8);
  Scene scene;
  while (scene.members.size() < 20) scene = RandomScene(rng);
  Limits limits;
  limits.multicast_segment_bytes = 700;
  MulticastCluster cluster(scene.members, MulticastPlan::kPrefix, limits);
  std::string body(5000, '\0');
  for (char& c : body) c = static_cast<char>(rng.Next());
  const AgentId source = AnyOf(rng, scene);
  const std::vector<AgentId> targets = SomeOf(rng, scene, source);
  ASSERT_TRUE(cluster.Run(source, targets, Bytes(body)));
  ASSERT_EQ(cluster.delivered.size(), targets.size());
  for (const auto& [id, deliveries] : cluster.delivered) {
    ASSERT_EQ(deliveries.size(), 1);
    EXPECT_EQ(deliveries[0].body.view(), body);
  }
  EXPECT_GT(cluster.hops.size(), 7 * targets.size());
}

TEST(Multicast, OddGroupsAreRefusedOrIgnored) {
  Rng rng(9);
  Scene scene;
  while (scene.members.size() < 10) scene = RandomScene(rng);
  MulticastCluster cluster(scene.members, MulticastPlan::kPrefix, Limits());
  const AgentId source = scene.members[0].id;
  const AgentId other = scene.members[1].id;
  // No targets; only this agent.
  EXPECT_TRUE(cluster.Run(source, {}, Bytes()));
  EXPECT_TRUE(cluster.Run(source, {source}, Bytes()));
  EXPECT_TRUE(cluster.hops.empty());
  // Doubles, this agent among them, an agent that left.
  EXPECT_TRUE(cluster.Run(source, {other, other, source, AgentId(2)}, Bytes()));
  EXPECT_EQ(cluster.delivered.size(), 1);
  EXPECT_EQ(cluster.delivered[other].size(), 1);
  EXPECT_EQ(cluster.of(source).unknown_count(), 1);
  // Garbage, cut messages, a list that claims too much.
  Outbox out;
  std::vector<Delivery> deliveries;
  cluster.of(source).Start({&other, 1}, 1, JobId(), Bytes(std::string("x")),
                           out);
  const std::string good(out.messages[0].body.Join().view());
  Outbox answers;
  const size_t head = good.size() - 1;  // all but the body, "x"
  for (size_t size = 0; size < head; ++size) {
    cluster.of(other).Receive({absl::UnixEpoch(), answers},
                              {{.kind = out.messages[0].kind, .source = source},
                               Bytes(good.substr(0, size))},
                              deliveries);
  }
  EXPECT_TRUE(deliveries.empty());
  EXPECT_TRUE(answers.messages.empty());
  EXPECT_EQ(cluster.of(other).refused_count(), head);
}

// An agent that has left hands over its labels: its view is without it.
TEST(Multicast, OneWhoHasLeftSendsDirectly) {
  for (int p = 0; p < kMulticastPlanCount; ++p) {
    SCOPED_TRACE(p);
    Rng rng(5);
    const Scene scene = RandomScene(rng);
    MulticastCluster cluster(scene.members, static_cast<MulticastPlan>(p),
                             Limits());
    const AgentId source = scene.members[0].id;
    const std::vector<Member> others(scene.members.begin() + 1,
                                     scene.members.end());
    std::vector<AgentId> targets;
    for (const Member& member : others) targets.push_back(member.id);
    cluster.SetView(source, std::make_shared<const View>(others));
    for (int64_t size : {1, 20'000}) {
      ASSERT_TRUE(cluster.Run(
          source, targets, Bytes(std::string(static_cast<size_t>(size), 'x'))));
      EXPECT_EQ(cluster.delivered.size(), targets.size());
    }
  }
}

TEST(Multicast, PastTheHopLimitItGoesDirectly) {
  int64_t beyond = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const Scene scene = RandomScene(rng);
    const AgentId source = AnyOf(rng, scene);
    const std::vector<AgentId> targets = SomeOf(rng, scene, source);
    Limits limits;
    MulticastCluster without(scene.members, MulticastPlan::kPrefix, limits);
    ASSERT_TRUE(without.Run(source, targets, Bytes()));
    for (const MulticastCluster::Hop& hop : without.hops) {
      beyond += hop.step > 2 ? 1 : 0;
    }
    limits.hops_max = 1;
    MulticastCluster cluster(scene.members, MulticastPlan::kPrefix, limits);
    ASSERT_TRUE(cluster.Run(source, targets, Bytes()));
    EXPECT_EQ(cluster.delivered.size(), targets.size());
    for (const MulticastCluster::Hop& hop : cluster.hops) {
      EXPECT_LE(hop.step, 2);
    }
  }
  EXPECT_GT(beyond, 0) << "no scene needs the limit";
}

}  // namespace
}  // namespace dogged

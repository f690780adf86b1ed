// Aim: the models are what they say: routes go up and then down, messages hold
// their path, every schedule reaches every destination, and the claims of [MC
// 5.1, 7] hold at a million agents. Method: by hand, and random networks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/model/chain_order.h"
#include "routing/model/multi_multicast.h"
#include "routing/model/pipeline.h"
#include "routing/model/prefix_multicast.h"
#include "routing/model/scale.h"
#include "routing/model/switch_network.h"
#include "routing/model/wormhole.h"

namespace dogged {
namespace {

std::vector<int> SomeProcessors(Rng& rng, const SwitchNetwork& network,
                                int count, int except) {
  std::vector<int> all(static_cast<size_t>(network.processor_count()));
  std::iota(all.begin(), all.end(), 0);
  all.erase(all.begin() + except);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    std::swap(all[i], all[i + static_cast<size_t>(rng.Below(
                                  std::ssize(all) - static_cast<int64_t>(i)))]);
  }
  all.resize(count);
  return all;
}

// Switches 0-1, 0-2, 1-2 (a cross edge), 2-3; two processors each.
SwitchNetwork ByHand() {
  return SwitchNetwork(4, 2, {{0, 1}, {0, 2}, {1, 2}, {2, 3}});
}

TEST(SwitchNetwork, TreeAndRoutesByHand) {
  const SwitchNetwork network = ByHand();
  EXPECT_EQ(network.parent(1), 0);
  EXPECT_EQ(network.parent(3), 2);
  EXPECT_TRUE(network.IsUp(2, 1));  // a cross edge, to the lower number
  EXPECT_FALSE(network.IsUp(1, 2));
  EXPECT_TRUE(network.IsUp(3, 2));
  // Own switch; over the cross edge; up and then down.
  EXPECT_EQ(network.Route(0, 1).size(), 2);
  EXPECT_EQ(network.Route(2, 4).size(), 3);
  EXPECT_EQ(network.Route(2, 6).size(), 4);
  EXPECT_EQ(network.Route(6, 0).size(), 4);
}

// Every pair has a way, it is a way, and nothing goes up after down.
TEST(SwitchNetwork, RoutesGoUpThenDown) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const SwitchNetwork network =
        SwitchNetwork::Random(rng, 2 + static_cast<int>(rng.Below(30)), 2, 4);
    // Links between switches by number: from, to.
    std::vector<std::pair<int, int>> ends(
        static_cast<size_t>(network.link_count()), {-1, -1});
    int link = 2 * network.processor_count();
    for (int at = 0; at < network.switch_count(); ++at) {
      for (int next : network.cables(at)) {
        ends[link++] = {at, next};
      }
    }
    const int count = network.processor_count();
    for (int pair = 0; pair < count * count; ++pair) {
      const int from = pair / count;
      const int to = pair % count;
      if (from == to) continue;
      const std::vector<int> route = network.Route(from, to);
      int at = network.switch_of(from);
      bool went_down = false;
      for (size_t i = 1; i + 1 < route.size(); ++i) {
        const auto [a, b] = ends[route[i]];
        ASSERT_EQ(a, at);
        EXPECT_FALSE(went_down && network.IsUp(a, b));
        went_down = !network.IsUp(a, b);
        at = b;
      }
      EXPECT_EQ(at, network.switch_of(to));
    }
  }
}

// "blocked messages hold up the links, prohibiting other messages from using
// the occupied links" [AG 1].
TEST(Wormhole, BlockedMessagesHoldTheirLinks) {
  const SwitchNetwork network = ByHand();
  const WormholeCosts costs{.startup = 10, .hop = 1, .body = 100};
  const auto one = [&](int from, int to) {
    MulticastSchedule schedule{from, {to}, {}};
    schedule.sends.resize(8);
    schedule.sends[from] = {to};
    return schedule;
  };
  // 4 links, alone.
  EXPECT_EQ(PlayWormhole(network, {one(2, 6)}, costs).last, 10 + 4 + 100);
  // Two messages that share the link from switch 2 to switch 3 go in turn.
  const WormholeResult two =
      PlayWormhole(network, {one(2, 6), one(4, 7)}, costs);
  EXPECT_GT(two.last, 210);
  EXPECT_GT(two.blocked, 90);
  // A third one, from 1 to 2, waits for the first of them if that is blocked
  // with its tail between 1 and 2, though nobody else goes to 4.
  const WormholeResult three =
      PlayWormhole(network, {one(4, 7), one(2, 6), one(3, 5)}, costs);
  EXPECT_GT(three.last, 300);
  // Apart from each other: nobody waits.
  EXPECT_EQ(PlayWormhole(network, {one(0, 2), one(4, 6)}, costs).blocked, 0);
}

TEST(ChainOrder, OrdersAndRotates) {
  const SwitchNetwork network = ByHand();
  EXPECT_EQ(ChainConcatenatedOrder(network, {7, 0, 5, 2, 6}),
            (std::vector<int>{0, 5, 6, 7, 2}));
  const MulticastSchedule spcco = SpccoMulticast(network, 6, {7, 0, 5, 2});
  // Shifted: 6 7 2 0 5. The far half first.
  EXPECT_EQ(spcco.sends[6], (std::vector<int>{0, 2, 7}));
  EXPECT_EQ(spcco.sends[0], std::vector<int>{5});
  const MulticastSchedule cco = CcoMulticast(network, 6, {7, 0, 5, 2});
  EXPECT_EQ(cco.sends[6], (std::vector<int>{7, 5, 0}));
}

// Any scheme, any number at once, any network: everybody gets it, and each
// destination is sent to once.
TEST(Schedules, ReachEveryDestinationOnce) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const SwitchNetwork network =
        SwitchNetwork::Random(rng, 2 + static_cast<int>(rng.Below(20)), 3, 4);
    for (int scheme = 0; scheme < 8; ++scheme) {
      SCOPED_TRACE(scheme);
      std::vector<MulticastSchedule> all;
      for (int m = 0; m < 5; ++m) {
        const int source =
            static_cast<int>(rng.Below(network.processor_count()));
        const std::vector<int> to = SomeProcessors(
            rng, network,
            1 + static_cast<int>(rng.Below(network.processor_count() - 1)),
            source);
        if (scheme == 4) {
          all.push_back(CcoMulticast(network, source, to));
        } else if (scheme == 5) {
          all.push_back(SpccoMulticast(network, source, to));
        } else if (scheme > 5) {
          all.push_back(PrefixMulticast(
              network, source, to,
              scheme == 6 ? EntryChoice::kHashed : EntryChoice::kNearest));
        } else {
          all.push_back(AgentMulticast(
              network, source, to,
              scheme % 2 == 0 ? PrimaryAgent::kSameTree : PrimaryAgent::kRandom,
              scheme < 2 ? PrimaryExchange::kBinomial
                         : PrimaryExchange::kCyclic,
              rng));
        }
        std::set<int> sent_to;
        for (const auto& sends : all.back().sends) {
          for (int next : sends) EXPECT_TRUE(sent_to.insert(next).second);
        }
        EXPECT_EQ(sent_to, std::set<int>(to.begin(), to.end()));
      }
      EXPECT_EQ(PlayWormhole(network, all, {}).undelivered, 0);
    }
  }
}

// "one million (2^20) cores, a base of 16": at most 5 steps, tables within a
// kilobyte, and a newcomer's table in a few messages.
TEST(Scale, AMillionAgents) {
  const ScaleModel model(1'000'000, 16, 1);
  ASSERT_EQ(model.size(), 1'000'000);
  EXPECT_EQ(model.digits(), 5);
  EXPECT_LE(model.table_bytes(), 1024);
  Rng rng(2);
  std::vector<int64_t> some;
  for (int i = 0; i < 20'000; ++i) some.push_back(rng.Below(model.size()));
  std::sort(some.begin(), some.end());
  some.erase(std::unique(some.begin(), some.end()), some.end());
  std::erase(some, 77);
  const ScaleModel::Tree tree =
      model.Multicast(MulticastPlan::kPrefix, 77, some);
  EXPECT_LE(tree.depth, 5);
  EXPECT_EQ(tree.messages, std::ssize(some) + tree.relays);
  for (int i = 0; i < 50; ++i) {
    const ScaleModel::JoinResult join = model.Join(rng);
    EXPECT_EQ(join.wrong, 0);
    EXPECT_LE(join.messages, 12);
    EXPECT_GE(join.entries, 60);
  }
}

// With holes everywhere a joiner's table is right all the same.
TEST(Scale, JoinersFindEverybodyWhoFits) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed);
    const int base = 2 + static_cast<int>(rng.Below(7));
    const ScaleModel model(2 + rng.Below(100), base, seed);
    if (model.size() == static_cast<int64_t>(std::pow(base, model.digits()))) {
      continue;  // no ID is left
    }
    EXPECT_EQ(model.Join(rng).wrong, 0) << "seed " << seed;
  }
}

// Two agents of a group send to two of another at once, over a single link.
TEST(Scale, DragonflyByHand) {
  PipelineCosts costs{
      .seconds_per_byte = 1e-6, .overhead_seconds = 1e-3, .latency_seconds = 0};
  ScaleModel::Tree tree;
  tree.parents = {-1, 0, 0, 1};
  tree.places = {0, 1, 2, 3};
  EXPECT_NEAR(PlayPipelined({tree}, 1000, 1000, costs), 4e-3, 1e-9);
  costs.group_hosts = 2;
  EXPECT_NEAR(PlayPipelined({tree}, 1000, 1000, costs), 5e-3, 1e-9);
}

// A thousand hosts of one port: two trees keep the ports busy both ways.
TEST(Scale, TwoTreesComeNearTheBound) {
  const ScaleModel model(1024, 4, 1);
  std::vector<int64_t> others(1023);
  std::iota(others.begin(), others.end(), 1);
  const std::vector<ScaleModel::Tree> trees = {
      model.Multicast(MulticastPlan::kTwoTrees, 0, others, 0),
      model.Multicast(MulticastPlan::kTwoTrees, 0, others, 1)};
  for (const ScaleModel::Tree& tree : trees) {
    EXPECT_EQ(tree.messages, 1023);
    EXPECT_LE(tree.depth, 11);
  }
  const PipelineCosts costs;
  EXPECT_LT(PlayPipelined(trees, 1 << 20, 8192, costs),
            1.5 * PipelineBound(1024, 1 << 20, costs));
}

TEST(Scale, PipelinesByHand) {
  const PipelineCosts costs{
      .seconds_per_byte = 1e-6, .overhead_seconds = 1e-3, .latency_seconds = 0};
  ScaleModel::Tree chain;
  chain.parents = {-1, 0, 1};
  chain.places = {0, 1, 2};
  // Two segments of 1000 bytes take 2 ms each; the last hop waits for one.
  EXPECT_NEAR(PlayPipelined({chain}, 2000, 1000, costs), 6e-3, 1e-9);
  ScaleModel::Tree flat;
  flat.parents = {-1, 0, 0};
  flat.places = {0, 1, 2};
  EXPECT_NEAR(PlayPipelined({flat}, 2000, 1000, costs), 8e-3, 1e-9);
  // Half of the body along 0 1 2, half along 0 2 1: place 2 has its first half
  // at 4 ms and passes it on until 6, while it takes the other from place 1.
  ScaleModel::Tree other = chain;
  other.places = {0, 2, 1};
  EXPECT_NEAR(PlayPipelined({chain, other}, 2000, 1000, costs), 6e-3, 1e-9);
  EXPECT_NEAR(PipelineBound(3, 2000, costs), 5.8e-3, 1e-4);
}

}  // namespace
}  // namespace dogged

// Aim: placement is a pure function of the members, fair by workers, moves no
// more than it must, and keeps copies on different hosts. Method: properties
// over random members from printed seeds.
#include "kvstore/placement/placement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "runtime/base/random.h"

namespace dogged {
namespace {

constexpr int kKeys = 4000;

std::vector<PlacementMember> RandomMembers(Rng& rng, int count, int hosts) {
  std::vector<PlacementMember> out;
  for (int i = 0; i < count; ++i) {
    out.push_back({.agent = AgentId(rng.Next() | 1),
                   .host = absl::StrCat("host", rng.Below(hosts)),
                   .workers = static_cast<int32_t>(1 + rng.Below(4))});
  }
  return out;
}

uint64_t Key(int i) { return Mix64(17, static_cast<uint64_t>(i)); }

TEST(Placement, WithoutMembersHasNoHome) {
  const Placement placement({}, 2);
  EXPECT_TRUE(placement.Home(Key(1)).IsNone());
  EXPECT_TRUE(placement.Ranks(Key(1)).empty());
  EXPECT_EQ(placement.RankOf(Key(1), AgentId(3)), -1);
}

TEST(Placement, DependsOnMembersNotOnTheirOrder) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    std::vector<PlacementMember> members = RandomMembers(rng, 9, 4);
    const Placement one(members, 3);
    for (size_t i = members.size(); i > 1; --i) {
      std::swap(members[i - 1], members[rng.Below(static_cast<int64_t>(i))]);
    }
    const Placement other(members, 3);
    for (int i = 0; i < 200; ++i) {
      EXPECT_EQ(one.Ranks(Key(i)), other.Ranks(Key(i)));
    }
  }
}

TEST(Placement, RanksAreDistinctMembersHomeFirst) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const int count = 1 + static_cast<int>(rng.Below(6));
    const Placement placement(RandomMembers(rng, count, 3), 4);
    for (int i = 0; i < 200; ++i) {
      const auto ranks = placement.Ranks(Key(i));
      EXPECT_EQ(ranks.size(), static_cast<size_t>(std::min(4, count)));
      EXPECT_EQ(ranks[0], placement.Home(Key(i)));
      EXPECT_EQ(std::set<AgentId>(ranks.begin(), ranks.end()).size(),
                ranks.size());
      for (size_t r = 0; r < ranks.size(); ++r) {
        EXPECT_TRUE(placement.Contains(ranks[r]));
        EXPECT_EQ(placement.RankOf(Key(i), ranks[r]), static_cast<int>(r));
      }
    }
  }
}

TEST(Placement, CopiesGoToOtherHostsFirst) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const std::vector<PlacementMember> members = RandomMembers(rng, 12, 3);
    const Placement placement(members, 12);
    const auto host_of = [&](AgentId agent) {
      return std::find_if(members.begin(), members.end(),
                          [&](const auto& m) { return m.agent == agent; })
          ->host;
    };
    for (int i = 0; i < 100; ++i) {
      const auto ranks = placement.Ranks(Key(i));
      const std::string home = host_of(ranks[0]);
      bool own_host = false;
      for (size_t r = 1; r < ranks.size(); ++r) {
        const bool same = host_of(ranks[r]) == home;
        EXPECT_FALSE(own_host && !same) << "rank " << r;
        own_host |= same;
      }
    }
  }
}

// An agent that leaves or comes moves only keys of its own.
TEST(Placement, AChangeMovesOnlyTheKeysOfWhoCameOrLeft) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    std::vector<PlacementMember> members = RandomMembers(rng, 8, 8);
    const Placement before(members, 1);
    const AgentId gone = members.back().agent;
    members.pop_back();
    const Placement after(members, 1);
    for (int i = 0; i < kKeys; ++i) {
      if (before.Home(Key(i)) != gone) {
        EXPECT_EQ(after.Home(Key(i)), before.Home(Key(i)));
      }
    }
  }
}

// The next in rank takes over, so a copy is where the new home is.
TEST(Placement, TheNextInRankInherits) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    std::vector<PlacementMember> members = RandomMembers(rng, 8, 1);
    const Placement before(members, 2);
    const AgentId gone = members.back().agent;
    members.pop_back();
    const Placement after(members, 2);
    for (int i = 0; i < 500; ++i) {
      if (before.Home(Key(i)) == gone) {
        EXPECT_EQ(after.Home(Key(i)), before.Ranks(Key(i))[1]);
      }
    }
  }
}

TEST(Placement, SharesFollowTheWorkers) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const std::vector<PlacementMember> members = RandomMembers(rng, 6, 6);
    const Placement placement(members, 1);
    int64_t workers = 0;
    for (const PlacementMember& member : members) workers += member.workers;
    std::map<AgentId, int> keys;
    for (int i = 0; i < kKeys; ++i) ++keys[placement.Home(Key(i))];
    for (const PlacementMember& member : members) {
      const double share =
          static_cast<double>(member.workers) / static_cast<double>(workers);
      // Five standard deviations of a binomial count.
      EXPECT_NEAR(keys[member.agent], share * kKeys,
                  5 * std::sqrt(kKeys * share * (1 - share)));
    }
  }
}

// The cache forgets when it is full; its answers stay the same.
TEST(Placement, AForgottenKeyIsPlacedAsBefore) {
  Rng rng(1);
  const Placement placement(RandomMembers(rng, 5, 5), 2);
  const AgentId home = placement.Home(Key(0));
  for (int i = 1; i < (1 << 18) + 10; ++i) (void)placement.Home(Key(i));
  EXPECT_EQ(placement.Home(Key(0)), home);
}

}  // namespace
}  // namespace dogged

// Aim: each member is home to its share of a job's keys, few keys or many, and
// holds its share of copies; a change of members moves as much as without
// salts. Method: properties over random members and loads from printed seeds.
#include "kvstore/placement/balance.h"

#include <algorithm>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "runtime/base/random.h"

namespace dogged {
namespace {

uint64_t Key(int64_t i) { return Mix64(29, static_cast<uint64_t>(i)); }

std::vector<PlacementMember> Members(Rng& rng, int count, int workers_max) {
  std::vector<PlacementMember> out;
  for (int i = 0; i < count; ++i) {
    out.push_back(
        {.agent = AgentId(rng.Next() | 1),
         .host = absl::StrCat("host", i),
         .workers = static_cast<int32_t>(1 + rng.Below(workers_max))});
  }
  return out;
}

std::vector<KeyLoad> EqualLoads(int64_t count) {
  std::vector<KeyLoad> out;
  for (int64_t i = 0; i < count; ++i) out.push_back({.key = Key(i), .load = 1});
  return out;
}

Placement Balanced(const std::vector<PlacementMember>& members, int replicas,
                   const std::vector<KeyLoad>& keys) {
  return Placement(
      members, replicas,
      std::make_shared<const KeySalts>(BalancedSalts(members, replicas, keys)));
}

// By agent: the load of the keys that it has at this rank.
std::map<AgentId, int64_t> LoadsAt(size_t rank, const Placement& placement,
                                   const std::vector<KeyLoad>& keys) {
  std::map<AgentId, int64_t> out;
  for (const PlacementMember& m : placement.members()) out[m.agent] = 0;
  for (const KeyLoad& key : keys) {
    out[placement.Ranks(key.key)[rank]] += key.load;
  }
  return out;
}

int64_t MaxOf(const std::map<AgentId, int64_t>& loads) {
  int64_t out = 0;
  for (const auto& [agent, load] : loads) out = std::max(out, load);
  return out;
}

TEST(Balance, FewKeysAreEvenToTheKey) {
  int64_t plain = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const int count = 2 + static_cast<int>(rng.Below(7));
    const int64_t keys = count + rng.Below(20 * count);
    const auto members = Members(rng, count, 1);
    const auto loads = EqualLoads(keys);
    const int64_t even = (keys + count - 1) / count;
    EXPECT_LE(MaxOf(LoadsAt(0, Balanced(members, 2, loads), loads)), even);
    plain += MaxOf(LoadsAt(0, Placement(members, 2), loads)) - even;
  }
  EXPECT_GT(plain, 100) << "a hash alone is as even";
}

TEST(Balance, ManyMembersAreEvenToTheKey) {
  Rng rng(1);
  const auto members = Members(rng, 64, 1);
  const auto loads = EqualLoads(512);
  EXPECT_LE(MaxOf(LoadsAt(0, Balanced(members, 2, loads), loads)), 8);
}

// Tiles of a triangle: the last column has most to do.
std::vector<KeyLoad> TriangleLoads() {
  std::vector<KeyLoad> keys;
  for (int64_t i = 0; i < 13; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      keys.push_back({.key = Key(16 * i + j), .load = 2 + j});
    }
  }
  return keys;
}

// After some steps the keys with most to do are left.
TEST(Balance, WhatHasMoreToDoIsEvenByItself) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const auto members = Members(rng, 2 + static_cast<int>(rng.Below(2)), 1);
    const std::vector<KeyLoad> keys = TriangleLoads();
    const Placement placement = Balanced(members, 1, keys);
    for (int64_t least = 2; least <= 14; ++least) {
      std::vector<KeyLoad> left;
      int64_t total = 0;
      for (const KeyLoad& key : keys) {
        if (key.load < least) continue;
        left.push_back(key);
        total += key.load;
      }
      EXPECT_LE(MaxOf(LoadsAt(0, placement, left)),
                total / std::ssize(members) + least);
    }
  }
}

TEST(Balance, SharesFollowTheLoadsAndTheWorkers) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const int count = 2 + static_cast<int>(rng.Below(5));
    const auto members = Members(rng, count, 4);
    const std::vector<KeyLoad> keys = TriangleLoads();
    int64_t total = 0;
    for (const KeyLoad& key : keys) total += key.load;
    int64_t workers = 0;
    for (const PlacementMember& m : members) workers += m.workers;
    const auto loads = LoadsAt(0, Balanced(members, 1, keys), keys);
    for (const PlacementMember& m : members) {
      EXPECT_LE(static_cast<double>(loads.at(m.agent)),
                static_cast<double>(total * m.workers) /
                        static_cast<double>(workers) +
                    2)
          << "the least load";
    }
  }
}

TEST(Balance, CopiesAreAboutEven) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const int count = 3 + static_cast<int>(rng.Below(4));
    const auto members = Members(rng, count, 1);
    const auto loads = EqualLoads(8 * count);
    const Placement placement = Balanced(members, 2, loads);
    EXPECT_LE(MaxOf(LoadsAt(1, placement, loads)), 10);
    for (const KeyLoad& key : loads) {
      EXPECT_NE(placement.Ranks(key.key)[0], placement.Ranks(key.key)[1]);
    }
  }
}

// Reads across slabs go to the same agent more often.
TEST(Balance, NeighboursAreKeptTogether) {
  int64_t together = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed);
    const auto loads = EqualLoads(32);
    const Placement placement = Balanced(Members(rng, 4, 1), 2, loads);
    for (size_t i = 1; i < loads.size(); ++i) {
      together +=
          placement.Home(loads[i - 1].key) == placement.Home(loads[i].key);
    }
  }
  EXPECT_GT(together, 50 * 31 / 2) << "a hash keeps a quarter of them";
}

// The salts were chosen for all members; all survivors inherit alike.
TEST(Balance, ADeathLeavesTheOthersAboutEven) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const int count = 3 + static_cast<int>(rng.Below(4));
    auto members = Members(rng, count, 1);
    const auto loads = EqualLoads(8 * count);
    const auto salts =
        std::make_shared<const KeySalts>(BalancedSalts(members, 2, loads));
    members.pop_back();
    const double even = 8.0 * count / (count - 1);
    EXPECT_LE(MaxOf(LoadsAt(0, Placement(members, 2, salts), loads)), even + 2);
  }
}

TEST(Balance, AChangeMovesOnlyTheKeysOfWhoCameOrLeft) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const int count = 2 + static_cast<int>(rng.Below(7));
    auto members = Members(rng, count, 3);
    const auto loads = EqualLoads(8 * count);
    const auto salts =
        std::make_shared<const KeySalts>(BalancedSalts(members, 2, loads));
    const Placement before(members, 2, salts);
    const AgentId gone = members.back().agent;
    auto fewer = members;
    fewer.pop_back();
    const Placement left(fewer, 2, salts);
    auto more = members;
    more.push_back({.agent = AgentId(rng.Next() | 1), .host = "new"});
    const Placement joined(more, 2, salts);
    for (const KeyLoad& key : loads) {
      const AgentId home = before.Home(key.key);
      EXPECT_EQ(left.Home(key.key),
                home == gone ? before.Ranks(key.key)[1] : home);
      if (joined.Home(key.key) != more.back().agent) {
        EXPECT_EQ(joined.Home(key.key), home);
      }
    }
  }
}

TEST(Balance, DependsOnMembersNotOnTheirOrder) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    auto members = Members(rng, 5, 3);
    std::vector<KeyLoad> keys;
    for (int64_t i = 0; i < 40; ++i) {
      keys.push_back({.key = Key(i), .load = 1 + rng.Below(9)});
    }
    const KeySalts salts = BalancedSalts(members, 2, keys);
    std::reverse(members.begin(), members.end());
    EXPECT_EQ(BalancedSalts(members, 2, keys), salts);
  }
}

// A key as large as half of all stands alone.
TEST(Balance, AKeyLargerThanAShareIsPlacedAllTheSame) {
  Rng rng(1);
  const auto members = Members(rng, 4, 1);
  std::vector<KeyLoad> keys = EqualLoads(30);
  keys.push_back({.key = Key(100), .load = 30});
  const Placement placement = Balanced(members, 1, keys);
  EXPECT_EQ(MaxOf(LoadsAt(0, placement, keys)), 30);
}

TEST(Balance, WhereAHashIsEvenEnoughItHasToDo) {
  Rng rng(1);
  const auto two = Members(rng, 2, 1);
  EXPECT_TRUE(BalancedSalts({}, 2, EqualLoads(8)).empty());
  EXPECT_TRUE(BalancedSalts({two[0]}, 2, EqualLoads(8)).empty());
  EXPECT_TRUE(BalancedSalts(two, 2, {}).empty());
  EXPECT_TRUE(BalancedSalts(two, 2, EqualLoads(kBalancedKeysMax + 1)).empty());
  EXPECT_FALSE(BalancedSalts(two, 2, EqualLoads(kBalancedKeysMax)).empty());
  const auto many = Members(rng, kBalancedMembersMax + 1, 1);
  EXPECT_TRUE(BalancedSalts(many, 2, EqualLoads(512)).empty());
}

}  // namespace
}  // namespace dogged

// Aim: whatever the network does, agents end with one view; no agent dies
// without cause; the dead are removed; an agent that was given up hears of it.
// Method: membership machines on a network in memory that delays, loses,
// doubles and reorders from a seed, under a clock that we move.
#include "routing/membership/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/random.h"
#include "tests/routing/membership_network.h"

namespace dogged {
namespace {

using Kind = MembershipEvent::Kind;

TEST(Membership, NewcomerIsKnownToAllAtOnce) {
  Network network(1);
  std::vector<AgentId> ids;
  for (uint64_t i = 1; i <= 5; ++i) {
    ids.push_back(network.Add(i));
    if (i > 1) network.Join(ids.back(), ids[(i * 7) % (i - 1)]);
    network.RunFor(absl::Milliseconds(5));
    EXPECT_EQ(network.Disagreement(), "");
  }
  EXPECT_EQ(network.node(ids[0]).events[Kind::kJoined], 4);
  EXPECT_EQ(network.of(ids[0]).view()->digest(),
            network.of(ids[4]).view()->digest());
  EXPECT_EQ(network.of(ids[0]).StateDigest(), network.of(ids[4]).StateDigest());
}

TEST(Membership, ThoseWhoJoinAtOnceKnowEachOtherAtOnce) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Network network(seed);
    std::vector<AgentId> ids;
    for (uint64_t i = 1; i <= 8; ++i) ids.push_back(network.Add(i));
    // Each by one that has joined, who may not know of the last ones yet.
    for (size_t i = 1; i < ids.size(); ++i) {
      network.Join(ids[i], ids[(seed * i) % i]);
    }
    network.RunFor(absl::Milliseconds(5));
    EXPECT_EQ(network.Disagreement(), "") << "seed " << seed;
  }
}

TEST(Membership, NewcomersThatComeTogetherKnowOneAnotherAtOnce) {
  Network network(3);
  const AgentId first = network.Add(1);
  std::map<AgentId, std::string> answers;
  for (uint64_t i = 2; i <= 9; ++i) {
    const AgentId id = network.Add(i);
    answers[id] = network.Ask(id, first);
  }
  for (const auto& [id, snapshot] : answers) network.Absorb(id, snapshot);
  // Sooner than any agent gossips.
  network.RunFor(absl::Milliseconds(5));
  EXPECT_EQ(network.Disagreement(), "");
}

TEST(Membership, BrokenLifeLineIsDeathForAllAtOnce) {
  Network network(2);
  std::vector<AgentId> ids;
  for (uint64_t i = 1; i <= 4; ++i) {
    ids.push_back(network.Add(i));
    if (i > 1) network.Join(ids.back(), ids[0]);
    network.RunFor(absl::Milliseconds(5));
  }
  network.Kill(ids[3]);
  Outbox out;
  network.of(ids[1]).PeerDied({network.now, out}, ids[3], "connection closed");
  network.Post(ids[1], out);
  network.RunFor(absl::Milliseconds(5));
  EXPECT_EQ(network.Disagreement(), "");
  const std::vector<MembershipEvent>& log = network.node(ids[0]).log;
  ASSERT_EQ(log.back().kind, Kind::kDied);
  EXPECT_EQ(log.back().member.id, ids[3]);
  EXPECT_EQ(log.back().cause, "connection closed");
}

TEST(Membership, LeaverIsNotCalledDead) {
  Network network(3);
  const AgentId a = network.Add(1), b = network.Add(2);
  network.Join(b, a);
  network.RunFor(absl::Seconds(1));
  Outbox out;
  network.of(b).Leave({network.now, out});
  network.Post(b, out);
  network.RunFor(absl::Milliseconds(5));
  network.Kill(b);
  out = Outbox();
  network.of(a).PeerDied({network.now, out}, b, "connection closed");
  network.Post(a, out);
  EXPECT_EQ(network.Disagreement(), "");
  EXPECT_EQ(network.node(a).events[Kind::kLeft], 1);
  EXPECT_EQ(network.node(a).events[Kind::kDied], 0);
}

// News that an agent sent before it had heard of a death or a leave come last.
TEST(Membership, LateNewsReviveNobody) {
  for (const bool leaves : {false, true}) {
    Network network(3);
    const AgentId a = network.Add(1), b = network.Add(2), c = network.Add(3);
    network.Join(b, a);
    network.Join(c, a);
    network.RunFor(absl::Seconds(1));
    const std::string before = network.Ask(a, c);
    Outbox out;
    if (leaves) {
      network.of(b).Leave({network.now, out});
      network.Post(b, out);
      network.RunFor(absl::Milliseconds(5));
    }
    network.Kill(b);
    out = Outbox();
    network.of(a).PeerDied({network.now, out}, b, "connection closed");
    network.Post(a, out);
    network.RunFor(absl::Milliseconds(5));
    ASSERT_EQ(network.Disagreement(), "");
    network.Absorb(a, before);
    EXPECT_EQ(network.Disagreement(), "");
    EXPECT_TRUE(network.of(a).IsDead(b));
    network.RunFor(absl::Milliseconds(500));
    EXPECT_EQ(network.Disagreement(), "");
  }
}

TEST(Membership, StoppedAgentIsGivenUpAndHearsOfIt) {
  Network network(4);
  std::vector<AgentId> ids;
  for (uint64_t i = 1; i <= 4; ++i) {
    ids.push_back(network.Add(i));
    if (i > 1) network.Join(ids.back(), ids[0]);
  }
  network.RunFor(absl::Seconds(2));
  network.node(ids[2]).running = false;
  network.RunFor(absl::Seconds(15));
  for (AgentId id : {ids[0], ids[1], ids[3]}) {
    EXPECT_TRUE(network.of(id).IsDead(ids[2]));
    EXPECT_EQ(network.node(id).events[Kind::kDied], 1);
  }
  // Goes on: suspects nobody, and is told.
  network.node(ids[2]).running = true;
  network.node(ids[2]).wake = network.now;
  network.RunFor(absl::Seconds(3));
  EXPECT_EQ(network.node(ids[2]).events[Kind::kDied], 0);
  EXPECT_EQ(network.node(ids[2]).events[Kind::kDeclaredDead], 1);
  EXPECT_EQ(network.of(ids[0]).view()->size(), 3);
}

TEST(Membership, AfterAPartitionTheSmallerPartGivesWay) {
  Network network(5);
  std::vector<AgentId> ids;
  for (uint64_t i = 1; i <= 5; ++i) {
    ids.push_back(network.Add(i));
    if (i > 1) network.Join(ids.back(), ids[0]);
  }
  network.RunFor(absl::Seconds(2));
  for (int small : {0, 1}) {
    for (int large : {2, 3, 4}) {
      network.cut.insert({ids[small], ids[large]});
      network.cut.insert({ids[large], ids[small]});
    }
  }
  network.RunFor(absl::Seconds(30));
  EXPECT_EQ(network.of(ids[0]).view()->size(), 2);
  EXPECT_EQ(network.of(ids[4]).view()->size(), 3);
  network.cut.clear();
  network.RunFor(absl::Seconds(30));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(network.of(ids[i]).declared_dead(), i < 2) << i;
  }
}

TEST(Membership, OneCutLinkIsNoDeath) {
  Network network(9);
  std::vector<AgentId> ids;
  for (uint64_t i = 1; i <= 5; ++i) {
    ids.push_back(network.Add(i));
    if (i > 1) network.Join(ids.back(), ids[0]);
  }
  network.RunFor(absl::Seconds(1));
  network.cut = {{ids[1], ids[3]}, {ids[3], ids[1]}};
  network.RunFor(absl::Seconds(5));
  // Each of the two is reached by way of one of the others.
  EXPECT_EQ(network.of(ids[0]).UnheardBy(ids[1]), std::vector{ids[3]});
  for (const auto& [from, to] : {std::pair(ids[1], ids[3]), {ids[3], ids[1]}}) {
    const AgentId relay = network.of(from).RelayTo(to);
    EXPECT_TRUE(relay == ids[0] || relay == ids[2] || relay == ids[4]);
    EXPECT_TRUE(network.of(from).RelayTo(ids[0]).IsNone());
  }
  EXPECT_TRUE(network.of(ids[0]).RelayTo(ids[1]).IsNone());
  network.RunFor(absl::Minutes(2));
  EXPECT_EQ(network.Disagreement(), "");
  for (AgentId id : ids) EXPECT_EQ(network.node(id).events[Kind::kDied], 0);
  network.cut.clear();
  network.RunFor(absl::Seconds(3));
  EXPECT_TRUE(network.of(ids[1]).RelayTo(ids[3]).IsNone());
  EXPECT_TRUE(network.of(ids[3]).RelayTo(ids[1]).IsNone());
}

// Only what goes one way is lost, so only that goes by way of others.
TEST(Membership, ALinkMayBeDownInOneDirection) {
  Network network(11);
  std::vector<AgentId> ids;
  for (uint64_t i = 1; i <= 3; ++i) {
    ids.push_back(network.Add(i));
    if (i > 1) network.Join(ids.back(), ids[0]);
  }
  network.RunFor(absl::Seconds(1));
  network.cut = {{ids[1], ids[2]}};
  network.RunFor(absl::Seconds(6));
  EXPECT_EQ(network.of(ids[1]).RelayTo(ids[2]), ids[0]);
  EXPECT_EQ(network.Disagreement(), "");
}

// An agent that hears nobody, though all hear it, must not end the others.
TEST(Membership, AgentThatHearsNobodyGivesUpItself) {
  Network network(12);
  std::vector<AgentId> ids;
  for (uint64_t i = 1; i <= 3; ++i) {
    ids.push_back(network.Add(i));
    if (i > 1) network.Join(ids.back(), ids[0]);
  }
  network.RunFor(absl::Seconds(1));
  network.cut = {{ids[1], ids[0]}, {ids[2], ids[0]}};
  network.RunFor(absl::Seconds(40));
  EXPECT_TRUE(network.of(ids[0]).declared_dead());
  for (const AgentId id : {ids[1], ids[2]}) {
    EXPECT_FALSE(network.of(id).declared_dead());
    EXPECT_EQ(network.of(id).view()->size(), 2);
  }
}

// Each of two neighbouring versions fits the other; the first not the third.
TEST(Membership, AllMembersHaveAVersionOfTheWireInCommon) {
  Network network(17);
  const AgentId first = network.Add(1, {}, {.oldest = 1, .newest = 1});
  const AgentId second = network.Add(2, {}, {.oldest = 1, .newest = 2});
  const AgentId third = network.Add(3, {}, {.oldest = 2, .newest = 3});
  network.Join(second, first);
  network.RunFor(absl::Seconds(1));
  EXPECT_EQ(network.of(first).view()->wire(), (WireRange{1, 1}));
  EXPECT_EQ(network.of(second).view()->wire(), (WireRange{1, 1}));
  const absl::Status refused =
      network.of(second)
          .Admit(network.now, network.of(third).Snapshot())
          .status();
  EXPECT_TRUE(absl::IsUnimplemented(refused)) << refused;
  EXPECT_THAT(refused.message(),
              testing::AllOf(testing::HasSubstr("speak version 1 of the wire"),
                             testing::HasSubstr("control3 speaks 2 to 3"),
                             testing::HasSubstr("one by one")));
  network.RunFor(absl::Seconds(1));
  EXPECT_EQ(network.of(first).view()->size(), 2);
  EXPECT_EQ(network.of(second).view()->size(), 2);
  EXPECT_EQ(network.of(second).candidate_count(), 0);
  // Once the first has gone.
  Outbox out;
  network.of(first).Leave({network.now, out});
  network.Post(first, out);
  network.RunFor(absl::Seconds(1));
  network.Join(third, second);
  network.RunFor(absl::Seconds(1));
  EXPECT_EQ(network.of(second).view()->wire(), (WireRange{2, 2}));
  EXPECT_EQ(network.of(third).view()->wire(), (WireRange{2, 2}));
}

TEST(Membership, ANamedAgentCountsOnceItWasHeard) {
  Network network(13);
  const AgentId a = network.Add(1), b = network.Add(2), c = network.Add(3);
  network.Join(b, a);
  network.RunFor(absl::Seconds(1));
  // A frame that was recorded earlier: nobody stands behind it any more.
  const std::string replayed = network.of(c).Snapshot();
  network.Kill(c);
  ASSERT_TRUE(network.of(a).Admit(network.now, replayed).ok());
  EXPECT_EQ(network.of(a).view()->size(), 2);
  EXPECT_EQ(network.of(a).candidate_count(), 1);
  network.RunFor(absl::Seconds(15));
  EXPECT_EQ(network.of(a).candidate_count(), 0);
  EXPECT_EQ(network.of(a).view()->size(), 2);
  EXPECT_EQ(network.node(a).events[Kind::kForgotten], 1);
  EXPECT_EQ(network.node(a).events[Kind::kDied], 0);
}

TEST(Membership, ClustersThatBeganApartBecomeOne) {
  Network network(14);
  std::vector<AgentId> ids;
  for (uint64_t i = 1; i <= 6; ++i) {
    ids.push_back(network.Add(i));
    if (i != 1 && i != 4) network.Join(ids.back(), ids[i < 4 ? 0 : 3]);
  }
  network.RunFor(absl::Seconds(2));
  network.Join(ids[5], ids[1]);
  network.RunFor(absl::Seconds(2));
  EXPECT_EQ(network.Disagreement(), "");
  for (AgentId id : ids) EXPECT_FALSE(network.of(id).declared_dead());
}

// However one of the halves meets the other, none of the larger one ends.
TEST(Membership, TheSmallerSideOfAMeetingGivesWay) {
  for (const bool small_asks : {false, true}) {
    Network network(15);
    std::vector<AgentId> ids;
    for (uint64_t i = 1; i <= 5; ++i) {
      ids.push_back(network.Add(i));
      if (i > 1) network.Join(ids.back(), ids[0]);
    }
    network.RunFor(absl::Seconds(2));
    for (int small : {0, 1}) {
      for (int large : {2, 3, 4}) {
        network.cut.insert({ids[small], ids[large]});
        network.cut.insert({ids[large], ids[small]});
      }
    }
    network.RunFor(absl::Minutes(5));  // nobody writes to the other half now
    network.cut.clear();
    const AgentId asking = small_asks ? ids[0] : ids[2];
    network.Join(asking, small_asks ? ids[2] : ids[0]);
    EXPECT_TRUE(network.of(ids[0]).declared_dead());
    network.RunFor(absl::Seconds(5));
    for (int i = 2; i < 5; ++i) {
      EXPECT_FALSE(network.of(ids[i]).declared_dead()) << i;
      EXPECT_EQ(network.of(ids[i]).view()->size(), 3) << i;
    }
  }
}

// The first connection stalled behind a long message; another one carries what
// is short.
TEST(Membership, ALinkThatCarriesShortMessagesAloneStaysDown) {
  for (const bool both_ways : {false, true}) {
    Network network(20);
    network.relays = true;
    const AgentId a = network.Add(1), b = network.Add(2), c = network.Add(3);
    network.Join(b, a);
    network.Join(c, a);
    network.RunFor(absl::Seconds(2));
    network.cut = {{a, b}};
    if (both_ways) network.cut.insert({b, a});
    network.RunFor(absl::Seconds(5));
    const auto is_down = [&network](AgentId from, AgentId to) {
      const std::vector<AgentId> unheard = network.of(from).UnheardBy(to);
      return std::find(unheard.begin(), unheard.end(), from) != unheard.end() &&
             network.of(to).UnheardBy(to) == unheard;
    };
    ASSERT_TRUE(is_down(a, b));
    ASSERT_EQ(is_down(b, a), both_ways);
    for (const auto& ends : network.cut) network.bytes_max[ends] = 1300;
    network.cut.clear();
    for (int i = 0; i < 300; ++i) {
      network.RunFor(absl::Milliseconds(100));
      ASSERT_TRUE(is_down(a, b)) << i;
      ASSERT_EQ(is_down(b, a), both_ways) << i;
    }
    network.bytes_max.clear();
    network.RunFor(absl::Seconds(3));
    EXPECT_FALSE(is_down(a, b));
    EXPECT_FALSE(is_down(b, a));
    EXPECT_EQ(network.node(a).events[Kind::kDied], 0);
  }
}

// However large its view is, which has those that gave it up.
TEST(Membership, AnAgentThatWasStoppedGivesWayToThoseThatGaveItUp) {
  for (const bool stopped_asks : {false, true}) {
    for (const uint64_t others : {1, 2, 5}) {
      Network network(18);
      const AgentId stopped = network.Add(100);
      std::vector<AgentId> ids;
      for (uint64_t i = 1; i <= others; ++i) {
        ids.push_back(network.Add(i));
        network.Join(ids.back(), stopped);
      }
      network.RunFor(absl::Seconds(2));
      network.node(stopped).running = false;
      network.RunFor(absl::Seconds(30));
      ASSERT_TRUE(network.of(ids[0]).IsDead(stopped));
      ASSERT_EQ(network.of(stopped).view()->size(), others + 1);
      // It answers before it reads any message.
      network.Join(stopped_asks ? stopped : ids[0],
                   stopped_asks ? ids[0] : stopped);
      EXPECT_TRUE(network.of(stopped).declared_dead());
      const MembershipEvent& last = network.node(stopped).log.back();
      EXPECT_EQ(last.kind, Kind::kDeclaredDead);
      EXPECT_THAT(last.cause, testing::HasSubstr(stopped_asks ? "go on without"
                                                              : "silent for"));
      network.node(stopped).running = true;
      network.RunFor(absl::Seconds(10));
      for (const AgentId id : ids) {
        EXPECT_FALSE(network.of(id).declared_dead());
        EXPECT_EQ(network.of(id).view()->size(), others);
      }
    }
  }
}

// Nobody gives way: the others hear of it by gossip as well.
TEST(Membership, MembersOfWhichOneKnowsOfADeathMeetAsOneSide) {
  for (const bool who_knows_asks : {false, true}) {
    Network network(19);
    const AgentId a = network.Add(1), b = network.Add(2), c = network.Add(3);
    network.Join(b, a);
    network.Join(c, a);
    network.RunFor(absl::Seconds(2));
    network.Kill(c);
    Outbox unsent;
    network.of(a).PeerDied({network.now, unsent}, c, "killed");
    network.Join(who_knows_asks ? a : b, who_knows_asks ? b : a);
    for (const AgentId id : {a, b}) {
      EXPECT_FALSE(network.of(id).declared_dead());
      EXPECT_EQ(network.of(id).view()->size(), 2);
    }
  }
}

// A suspicion that was young when the agent was stopped is young afterwards.
TEST(Membership, TimeWhileStoppedDoesNotCount) {
  Network network(10);
  const AgentId a = network.Add(1), b = network.Add(2);
  network.Join(b, a);
  network.RunFor(absl::Seconds(1));
  network.cut = {{a, b}, {b, a}};
  for (int i = 0; i < 100 && !network.of(a).IsSuspect(b); ++i) {
    network.RunFor(absl::Milliseconds(100));
  }
  ASSERT_TRUE(network.of(a).IsSuspect(b));
  for (AgentId id : {a, b}) network.node(id).running = false;
  network.RunFor(absl::Hours(1));
  network.cut.clear();
  for (AgentId id : {a, b}) {
    network.node(id).running = true;
    network.node(id).wake = network.now;
  }
  network.RunFor(absl::Seconds(5));
  EXPECT_EQ(network.Disagreement(), "");
  EXPECT_EQ(network.node(a).events[Kind::kDied], 0);
  EXPECT_FALSE(network.of(a).IsSuspect(b));
}

TEST(Membership, AStrangerAtAnAddressThatAMemberHadRefuses) {
  Network network(6);
  const AgentId a = network.Add(1), b = network.Add(2);
  network.Join(b, a);
  network.RunFor(absl::Milliseconds(10));
  network.Kill(b);
  const std::string for_kin = network.of(a).Snapshot(/*is_for_kin=*/true);
  const AgentId stranger = network.Add(3);
  const auto refused = network.of(stranger).Admit(network.now, for_kin);
  EXPECT_TRUE(absl::IsPermissionDenied(refused.status())) << refused.status();
  EXPECT_EQ(network.of(stranger).Snapshot().find("host1"), std::string::npos);
  // One that was told of others, of whom none is there, is glad to be found.
  const AgentId free = network.Add(4, {.looks_for_others = true});
  EXPECT_TRUE(network.of(free).Admit(network.now, for_kin).ok());
  // Another incarnation of a member is kin, whichever of the two dials.
  const AgentId reborn = network.Add(5, {.kin = {b}});
  EXPECT_TRUE(network.of(reborn).Admit(network.now, for_kin).ok());
  EXPECT_TRUE(
      network.of(a).Admit(network.now, network.of(reborn).Snapshot(true)).ok());
  // So they are while neither has met anybody yet.
  const AgentId other = network.Add(6, {.kin = {b}});
  EXPECT_TRUE(network.of(other)
                  .Admit(network.now, network.of(reborn).Snapshot(true))
                  .ok());
  // An address that a user names is for all; so is that of an earlier release,
  // which does not say.
  const std::string for_all = network.of(a).Snapshot();
  EXPECT_TRUE(network.of(network.Add(7)).Admit(network.now, for_all).ok());
  const std::string earlier = for_all.substr(0, for_all.size() - 2);
  EXPECT_TRUE(network.of(network.Add(8)).Admit(network.now, earlier).ok());
}

TEST(Membership, RecordsGrowAndTheLargerVersionWins) {
  Network network(6);
  const AgentId a = network.Add(1), b = network.Add(2);
  network.Join(b, a);
  network.RunFor(absl::Milliseconds(10));
  Outbox out;
  network.of(a).PutRecord({network.now, out}, "job", 2,
                          Bytes(std::string("two")));
  network.Post(a, out);
  out = Outbox();
  network.of(b).PutRecord({network.now, out}, "job", 1,
                          Bytes(std::string("one")));
  network.Post(b, out);
  network.RunFor(absl::Seconds(2));
  for (AgentId id : {a, b}) {
    EXPECT_EQ(network.of(id).records().Find("job")->bytes(), "two");
    EXPECT_GE(network.node(id).events[Kind::kRecord], 1);
  }
  const AgentId late = network.Add(3);
  network.Join(late, b);
  EXPECT_EQ(network.of(late).records().Find("job")->version(), 2);
}

TEST(Membership, BlobsReachTheOthers) {
  Network network(7);
  const AgentId a = network.Add(1), b = network.Add(2);
  network.Join(b, a);
  network.of(b).SetGossipPayload(Bytes(std::string("busy")));
  network.RunFor(absl::Seconds(2));
  EXPECT_EQ(network.of(a).GossipPayloadOf(b).view(), "busy");
  EXPECT_EQ(network.of(a).GossipPayloadOf(AgentId(5)).view(), "");
}

// With its leave, and as long as it goes on talking.
TEST(Membership, LastWordsStayUntilTheLeaverIsForgotten) {
  Network network(7);
  MembershipOptions options;
  options.forget_after = absl::Seconds(20);
  const AgentId a = network.Add(1, options), b = network.Add(2, options);
  network.Join(b, a);
  network.RunFor(absl::Seconds(1));
  Outbox out;
  network.of(b).SetGossipPayload(Bytes(std::string("41 tasks")));
  network.of(b).Leave({network.now, out});
  network.Post(b, out);
  network.RunFor(absl::Milliseconds(5));
  EXPECT_EQ(network.node(a).events[Kind::kLeft], 1);
  EXPECT_EQ(network.of(a).GossipPayloadOf(b).view(), "41 tasks");
  network.of(b).SetGossipPayload(Bytes(std::string("42 tasks")));
  network.RunFor(absl::Seconds(2));
  EXPECT_EQ(network.of(a).GossipPayloadOf(b).view(), "42 tasks");
  network.Kill(b);
  network.RunFor(absl::Seconds(30));
  EXPECT_EQ(network.node(a).events[Kind::kForgotten], 1);
  EXPECT_EQ(network.of(a).GossipPayloadOf(b).view(), "");
}

TEST(Membership, RefusesGarbage) {
  Network network(8);
  const AgentId a = network.Add(1), b = network.Add(2);
  network.Join(b, a);
  network.RunFor(absl::Seconds(1));
  Rng rng(99);
  Membership& membership = network.of(a);
  for (int i = 0; i < 2000; ++i) {
    // A sound snapshot with one byte changed, cut, or noise.
    std::string text(1, static_cast<char>(rng.Below(3)));
    text += std::string(8, 'x') + network.of(b).Snapshot();
    if (rng.Chance(0.5)) text.resize(rng.Below(60));
    if (!text.empty()) {
      text[rng.Below(std::ssize(text))] ^=
          static_cast<char>(1 + rng.Below(255));
    }
    Outbox out;
    if (rng.Chance(0.3)) {
      EXPECT_FALSE(membership.Absorb({network.now, out}, text, "by").ok());
    } else {
      membership.Receive({network.now, out}, AgentId(55),
                         static_cast<uint8_t>(rng.Below(8)),
                         Bytes(std::move(text)));
    }
    if (membership.declared_dead()) return;  // a lucky hit on its own fact
  }
  EXPECT_GT(membership.refused_count(), 500);
}

// The network of the seed: up to 10 agents; loss, doubles, reordering.
void RunSeed(uint64_t seed) {
  Rng rng = Rng(seed).Stream("scenario");
  Network network(seed);
  network.loss = rng.Unit() * 0.2;
  network.doubling = rng.Unit() * 0.2;
  network.jitter = 100 + rng.Below(100'000);
  MembershipOptions options;
  if (rng.Chance(0.3)) options.push_all_max = 4;  // as in large views
  const int64_t count = 2 + rng.Below(9);
  std::vector<AgentId> ids;
  for (int64_t i = 0; i < count; ++i) {
    ids.push_back(network.Add(static_cast<uint64_t>(i + 1), options));
    if (i > 0) {
      network.Join(ids.back(), ids[rng.Below(i)]);
    }
    network.RunFor(absl::Milliseconds(rng.Below(400)));
  }
  network.RunFor(absl::Seconds(10));
  ASSERT_EQ(network.Disagreement(), "") << "after joining";

  int64_t killed = 0;
  while (std::ssize(ids) > 1 && rng.Chance(0.6)) {
    const auto victim = static_cast<size_t>(rng.Below(std::ssize(ids)));
    const AgentId dead = ids[victim];
    ids.erase(ids.begin() + static_cast<int64_t>(victim));
    network.Kill(dead);
    ++killed;
    if (rng.Chance(0.5)) {  // some life line saw it
      const AgentId witness = ids[rng.Below(std::ssize(ids))];
      Outbox out;
      network.of(witness).PeerDied({network.now, out}, dead, "closed");
      network.Post(witness, out);
    }
    network.RunFor(absl::Milliseconds(rng.Below(3000)));
  }
  for (int i = 0; i < 40 && network.Disagreement() != ""; ++i) {
    network.RunFor(absl::Seconds(1));
  }
  network.RunFor(absl::Seconds(5));
  // The last one of several may take the silence of all others for its own.
  if (ids.size() == 1 && network.of(ids[0]).declared_dead()) return;
  ASSERT_EQ(network.Disagreement(), "") << "after " << killed << " deaths";
  for (AgentId id : ids) {
    EXPECT_EQ(network.node(id).events[Kind::kDeclaredDead], 0);
    EXPECT_EQ(network.node(id).events[Kind::kDied] +
                  network.node(id).events[Kind::kLeft],
              killed);
  }
}

TEST(Membership, ConvergesOnABadNetwork) {
  const char* only = std::getenv("DOGGED_SEED");
  const uint64_t begin = only != nullptr ? std::strtoull(only, nullptr, 10) : 0;
  const uint64_t end = only != nullptr ? begin + 1 : 200;
  for (uint64_t seed = begin; seed < end; ++seed) {
    SCOPED_TRACE(
        absl::StrCat("replay: DOGGED_SEED=", seed, " routing_membership_test"));
    RunSeed(seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace dogged

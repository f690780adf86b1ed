// Aim: whatever the network does, and however many records differ, agents end
// with equal records, by a bounded number of bytes. Method: membership machines
// on a network in memory, some of whose records were not gossiped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/routing/membership_network.h"

namespace dogged {
namespace {

constexpr auto kReconcile = static_cast<uint8_t>(RoutingKind::kReconcile);

std::vector<AgentId> Grow(Network& network, uint64_t count,
                          const MembershipOptions& options = {}) {
  std::vector<AgentId> ids;
  for (uint64_t i = 1; i <= count; ++i) {
    ids.push_back(network.Add(i, options));
    if (i > 1) network.Join(ids.back(), ids[0]);
  }
  network.RunFor(absl::Seconds(1));
  return ids;
}

// Puts a record without gossiping it.
void PutSilently(Network& network, AgentId at, int number, uint64_t version) {
  Outbox lost;
  network.of(at).PutRecord(
      {network.now, lost}, absl::StrCat("job/", number), version,
      Bytes(absl::StrCat("state ", version, std::string(120, 'x'))));
}

bool Agree(Network& network, const std::vector<AgentId>& ids) {
  for (const AgentId id : ids) {
    if (network.of(id).StateDigest() != network.of(ids[0]).StateDigest()) {
      return false;
    }
  }
  return true;
}

// 10^5 records that both have, and one more: it is told, and little else.
TEST(MembershipRecords, OneThatDiffersAmongManyTravelsAlone) {
  Network network(1);
  const std::vector<AgentId> ids = Grow(network, 2);
  for (int i = 0; i < 100000; ++i) {
    for (const AgentId id : ids) PutSilently(network, id, i, 1);
  }
  network.RunFor(absl::Seconds(2));
  EXPECT_EQ(network.bytes[kReconcile], 0);
  PutSilently(network, ids[0], 100000, 1);
  EXPECT_FALSE(Agree(network, ids));
  network.bytes.clear();
  network.RunFor(absl::Seconds(2));
  EXPECT_TRUE(Agree(network, ids));
  int64_t all = 0;
  for (const auto& [kind, bytes] : network.bytes) all += bytes;
  EXPECT_LT(all, 16 << 10);
  EXPECT_GT(network.bytes[kReconcile], 0);
  // Both heard of each once.
  const auto events = network.node(ids[1]).events;
  EXPECT_EQ(events.at(MembershipEvent::Kind::kRecord), 100001);
}

TEST(MembershipRecords, ManyGoOnAtOnceAndInBoundedMessages) {
  Network network(2);
  MembershipOptions options;
  const std::vector<AgentId> ids = Grow(network, 2, options);
  for (int i = 0; i < 5000; ++i) {
    PutSilently(network, ids[i % 2], i, 1);
  }
  network.RunFor(absl::Seconds(1));
  EXPECT_TRUE(Agree(network, ids));
  EXPECT_EQ(network.of(ids[0]).records().size(), 5000);
  EXPECT_LE(network.largest, 48 << 10);
}

// Between two gossips no more than the bound, also if messages are doubled.
TEST(MembershipRecords, WhatItTakesIsBounded) {
  Network network(3);
  network.doubling = 0.9;
  MembershipOptions options;
  options.reconcile_bytes_max = 100 << 10;
  const std::vector<AgentId> ids = Grow(network, 2, options);
  for (int i = 0; i < 5000; ++i) PutSilently(network, ids[0], i, 1);
  int rounds = 0;
  for (; rounds < 200 && !Agree(network, ids); ++rounds) {
    network.bytes.clear();
    network.RunFor(options.gossip_interval);
    // For each agent, once at the end of an interval and once at the begin of
    // the next.
    EXPECT_LE(network.bytes[kReconcile], 4 * options.reconcile_bytes_max);
  }
  EXPECT_TRUE(Agree(network, ids));
  EXPECT_GT(rounds, 2);
}

TEST(MembershipRecords, GarbageIsCounted) {
  Network network(4);
  const std::vector<AgentId> ids = Grow(network, 2);
  Membership& membership = network.of(ids[0]);
  const int64_t before = membership.refused_count();
  const uint64_t digest = membership.StateDigest();
  for (const char* text : {"", "\x01", "\x01\x01\x45"}) {
    Outbox out;
    membership.Receive({network.now, out}, ids[1], kReconcile,
                       Bytes(std::string(text)));
    EXPECT_TRUE(out.messages.empty());
  }
  Outbox out;
  membership.Receive({network.now, out}, ids[1],
                     static_cast<uint8_t>(RoutingKind::kGossipDigest),
                     Bytes(std::string(8, 'x')));
  EXPECT_TRUE(out.messages.empty());
  EXPECT_EQ(membership.refused_count(), before + 4);
  EXPECT_EQ(membership.StateDigest(), digest);
}

// The network of the seed: 2 to 7 agents; loss, doubles, reordering; records
// that one of them alone knows, in versions of which the newest has to win.
void RunSeed(uint64_t seed) {
  Rng rng = Rng(seed).Stream("records");
  Network network(seed);
  MembershipOptions options;
  if (rng.Chance(0.3)) options.push_all_max = 2;  // as in large views
  const std::vector<AgentId> ids =
      Grow(network, static_cast<uint64_t>(2 + rng.Below(6)), options);
  network.loss = rng.Unit() * 0.2;
  network.doubling = rng.Unit() * 0.3;
  network.jitter = 100 + rng.Below(100'000);
  std::map<int, uint64_t> newest;
  const int64_t count = 1 << rng.Below(12);
  for (int64_t i = 0; i < count; ++i) {
    const int number = static_cast<int>(rng.Below(count));
    const auto version = static_cast<uint64_t>(1 + rng.Below(3));
    PutSilently(network, rng.Pick(ids), number, version);
    newest[number] = std::max(newest[number], version);
  }
  int rounds = 0;
  while (rounds < 120 && !Agree(network, ids)) {
    network.RunFor(absl::Milliseconds(500));
    ++rounds;
  }
  ASSERT_TRUE(Agree(network, ids)) << count << " records";
  for (const AgentId id : ids) {
    const auto& records = network.of(id).records();
    ASSERT_EQ(records.size(), std::ssize(newest));
    for (const auto& [number, version] : newest) {
      const KeptRecord* known = records.Find(absl::StrCat("job/", number));
      ASSERT_NE(known, nullptr);
      ASSERT_EQ(known->version(), version);
    }
  }
}

TEST(MembershipRecords, ConvergeOnABadNetwork) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RunSeed(seed);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace dogged

// Aim: whatever the planner, every destination gets the body once, by relays
// that die or forget, over a network that delays, loses and doubles; a
// destination that has it takes no bytes; lying messages are refused. Method:
// machines on a network in memory with a clock of its own, from seeds.
#include "routing/stream/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/multicast/multicast.h"
#include "runtime/base/random.h"

namespace dogged {
namespace {

Bytes SegmentOf(const StreamKey& key, int64_t index, const std::string& piece) {
  return SplitBytes(StreamSegment::EncodeHead(key, index), Bytes(piece)).Join();
}

constexpr MulticastPlan kPlans[] = {
    MulticastPlan::kPrefix,  MulticastPlan::kFlat,   MulticastPlan::kBinomial,
    MulticastPlan::kChain,   MulticastPlan::kAgents, MulticastPlan::kTwoTrees,
    MulticastPlan::kKnomial, MulticastPlan::kAuto};

// Agents on a network with a clock.
class Net {
 public:
  struct Faults {
    double loss = 0;
    double doubling = 0;
    absl::Duration jitter;  // zero: in order
    absl::Duration delay = absl::Milliseconds(1);
  };
  Net(Rng& rng, int64_t count, MulticastPlan plan, const Limits& limits,
      Faults faults)
      : rng_(rng), faults_(faults) {
    for (int64_t i = 0; i < count; ++i) {
      Member member;
      member.id = AgentId(static_cast<uint64_t>(i) + 1);
      std::string digits;
      for (int k = 0; k < 4; ++k) {
        digits.push_back(static_cast<char>(rng.Below(4)));
      }
      member.topology_id = *TopologyId::FromDigits(4, digits);
      member.host = absl::StrCat("host", i);
      members_.push_back(member);
    }
    const auto view = std::make_shared<const View>(members_);
    for (const Member& member : members_) {
      agents.try_emplace(member.id, member.id, plan, limits);
      agents.at(member.id).SetView(view);
      Outbox out;
      agents.at(member.id).Tick({now, out});
    }
  }

  void Start(AgentId source, const std::vector<AgentId>& targets,
             const std::string& body, const std::string& tag = "") {
    Outbox out;
    agents.at(source).Start(targets, 77, JobId(3), Bytes(body), out,
                            Bytes(tag));
    Post(source, out);
  }

  // The agent is gone at once; the others learn of it `later`.
  void Kill(AgentId id, absl::Duration later) {
    agents.erase(id);
    wakes_.erase(id);
    members_.erase(std::find_if(members_.begin(), members_.end(),
                                [id](const Member& m) { return m.id == id; }));
    learn_at_ = now + later;
  }

  // Until nothing is under way and nobody holds anything, or `until`.
  void Run(absl::Time until, int64_t events_max = 1'000'000) {
    while (now < until && --events_max > 0) {
      absl::Time next = learn_at_;
      if (!letters_.empty()) next = std::min(next, letters_.begin()->first);
      for (const auto& [id, wake] : wakes_) next = std::min(next, wake);
      if (next == absl::InfiniteFuture()) return;
      now = std::max(now, next);
      if (learn_at_ <= now) {
        learn_at_ = absl::InfiniteFuture();
        const auto view = std::make_shared<const View>(members_);
        for (auto& [id, agent] : agents) {
          agent.SetView(view);
          Tick(id);
        }
      }
      if (!letters_.empty() && letters_.begin()->first <= now) {
        const Letter letter = letters_.begin()->second;
        letters_.erase(letters_.begin());
        Hand(letter);
        continue;
      }
      for (auto& [id, agent] : agents) {
        if (wakes_.contains(id) && wakes_[id] <= now) Tick(id);
      }
    }
  }

  std::map<AgentId, Multicast> agents;
  absl::Time now = absl::UnixEpoch() + absl::Hours(1);
  std::map<AgentId, std::vector<Delivery>> delivered;
  absl::Time last_delivery;
  int64_t segments = 0;

 private:
  struct Letter {
    AgentId from, to;
    uint8_t kind;
    JobId job;
    Bytes body;
  };

  void Tick(AgentId id) {
    Outbox out;
    agents.at(id).Tick({now, out});
    wakes_.erase(id);
    Post(id, out);
  }
  void Hand(const Letter& letter) {
    if (!agents.contains(letter.to)) return;
    Outbox out;
    std::vector<Delivery> deliveries;
    const Envelope head{
        .kind = letter.kind, .source = letter.from, .job = letter.job};
    agents.at(letter.to).Receive({now, out}, {head, letter.body}, deliveries);
    for (Delivery& delivery : deliveries) {
      delivered[letter.to].push_back(std::move(delivery));
      last_delivery = now;
    }
    Post(letter.to, out);
    Tick(letter.to);  // as the agent does in each pass
  }
  void Post(AgentId from, Outbox& out) {
    if (out.wake != absl::InfiniteFuture()) {
      absl::Time& wake =
          wakes_.try_emplace(from, absl::InfiniteFuture()).first->second;
      wake = std::max(now + absl::Microseconds(1), std::min(wake, out.wake));
    }
    for (Outbox::OutgoingMessage& wish : out.messages) {
      segments +=
          wish.kind == static_cast<uint8_t>(RoutingKind::kStreamSegment);
      if (rng_.Chance(faults_.loss)) continue;
      for (int i = rng_.Chance(faults_.doubling) ? 2 : 1; i > 0; --i) {
        letters_.emplace(
            now + faults_.delay + faults_.jitter * rng_.Unit(),
            Letter{from, wish.to, wish.kind, wish.job, wish.body.Join()});
      }
    }
  }

  Rng& rng_;
  Faults faults_;
  std::vector<Member> members_;
  std::multimap<absl::Time, Letter> letters_;
  std::map<AgentId, absl::Time> wakes_;
  absl::Time learn_at_ = absl::InfiniteFuture();
};

std::string RandomBody(Rng& rng, int64_t size) {
  std::string body(static_cast<size_t>(size), '\0');
  for (char& c : body) c = static_cast<char>(rng.Next());
  return body;
}

std::vector<AgentId> Others(const Net& net, AgentId source) {
  std::vector<AgentId> others;
  for (const auto& [id, agent] : net.agents) {
    if (id != source) others.push_back(id);
  }
  return others;
}

Limits SmallSegments() {
  Limits limits;
  limits.multicast_segment_bytes = 500;
  limits.stream_window_bytes = 4000;
  return limits;
}

void ExpectAllHave(const Net& net, const std::vector<AgentId>& targets,
                   const std::string& body) {
  for (AgentId target : targets) {
    if (!net.agents.contains(target)) continue;
    const auto it = net.delivered.find(target);
    ASSERT_TRUE(it != net.delivered.end()) << target.ToString();
    ASSERT_EQ(it->second.size(), 1);
    EXPECT_EQ(it->second[0].body.view(), body);
  }
}

void ExpectNothingHeld(const Net& net) {
  for (const auto& [id, agent] : net.agents) {
    EXPECT_EQ(agent.streams().held_count(), 0) << id.ToString();
    EXPECT_EQ(agent.two_trees().held_count(), 0) << id.ToString();
    EXPECT_EQ(agent.refused_count(), 0);
  }
}

TEST(Streams, EveryPlanDeliversOnce) {
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const MulticastPlan plan = kPlans[seed % std::size(kPlans)];
    SCOPED_TRACE(absl::StrCat("seed ", seed, " ", MulticastPlanName(plan)));
    Rng rng(seed);
    Net net(rng, 2 + rng.Below(40), plan, SmallSegments(), {});
    const std::string body = RandomBody(rng, rng.Below(20'000));
    const std::vector<AgentId> targets = Others(net, AgentId(1));
    net.Start(AgentId(1), targets, body);
    net.Run(net.now + absl::Seconds(20));
    ExpectAllHave(net, targets, body);
    ExpectNothingHeld(net);
    EXPECT_LT(net.last_delivery,
              absl::UnixEpoch() + absl::Hours(1) + absl::Milliseconds(200));
  }
}

TEST(Streams, SurviveABadNetwork) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const MulticastPlan plan = kPlans[seed % std::size(kPlans)];
    SCOPED_TRACE(absl::StrCat("seed ", seed, " ", MulticastPlanName(plan)));
    Rng rng(seed);
    Net net(rng, 2 + rng.Below(20), plan, SmallSegments(),
            {.loss = 0.05, .doubling = 0.05, .jitter = absl::Milliseconds(5)});
    const std::string body = RandomBody(rng, 3000 + rng.Below(20'000));
    const std::vector<AgentId> targets = Others(net, AgentId(1));
    net.Start(AgentId(1), targets, body);
    net.Run(net.now + absl::Seconds(25));
    if (targets.size() > 1) ExpectAllHave(net, targets, body);
  }
}

// A relay dies in the middle; all the others get the body all the same, soon
// after its parent learns of it.
TEST(Streams, RelayDeathIsRepaired) {
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const MulticastPlan plan = kPlans[seed % std::size(kPlans)];
    SCOPED_TRACE(absl::StrCat("seed ", seed, " ", MulticastPlanName(plan)));
    Rng rng(seed);
    Net net(rng, 4 + rng.Below(30), plan, SmallSegments(), {});
    const std::string body = RandomBody(rng, 30'000);
    const std::vector<AgentId> targets = Others(net, AgentId(1));
    net.Start(AgentId(1), targets, body);
    net.Run(net.now + absl::Milliseconds(rng.Below(60)));
    const AgentId victim = targets[rng.Below(std::ssize(targets))];
    net.delivered.erase(victim);
    net.Kill(victim, absl::Milliseconds(5));
    const absl::Time killed = net.now;
    net.Run(net.now + absl::Seconds(25));
    ExpectAllHave(net, targets, body);
    ExpectNothingHeld(net);
    EXPECT_LT(net.last_delivery - killed, absl::Milliseconds(300));
  }
}

// A relay is never declared dead but silent: targets behind it are offered the
// body directly after a while.
TEST(Streams, SilentRelayIsPassedOver) {
  Rng rng(5);
  Net net(rng, 8, MulticastPlan::kChain, SmallSegments(), {});
  const std::string body = RandomBody(rng, 30'000);
  const std::vector<AgentId> targets = Others(net, AgentId(1));
  net.agents.erase(AgentId(4));
  net.Start(AgentId(1), targets, body);
  net.Run(net.now + absl::Seconds(25));
  ExpectAllHave(net, targets, body);
}

// A destination that has the body takes no bytes, nor does a relay without
// takers behind it.
TEST(Streams, WhoHasItTakesNoBytes) {
  for (MulticastPlan plan : kPlans) {
    SCOPED_TRACE(MulticastPlanName(plan));
    Rng rng(7);
    Net net(rng, 12, plan, SmallSegments(), {});
    const std::string body = RandomBody(rng, 30'000);
    const std::vector<AgentId> targets = Others(net, AgentId(1));
    int lacking = 0;
    for (auto& [id, agent] : net.agents) {
      const bool lacks = id == AgentId(9);
      lacking += lacks;
      agent.SetWants([lacks](uint8_t kind, JobId job, const Bytes& tag) {
        EXPECT_EQ(kind, 77);
        EXPECT_EQ(job, JobId(3));
        EXPECT_EQ(tag.view(), "tag");
        return lacks;
      });
    }
    net.Start(AgentId(1), targets, body, "tag");
    net.Run(net.now + absl::Seconds(20));
    for (AgentId target : targets) {
      ASSERT_EQ(net.delivered[target].size(), 1);
      const Delivery& delivery = net.delivered[target][0];
      EXPECT_EQ(delivery.tag_only, target != AgentId(9));
      EXPECT_EQ(delivery.body.view(), target == AgentId(9) ? body : "tag");
    }
    ExpectNothingHeld(net);
    // 60 segments to the agent that lacks it; on the way there a relay or more.
    EXPECT_GE(net.segments, 60);
    if (plan == MulticastPlan::kFlat) {
      EXPECT_EQ(net.segments, 60);
    }
    // No agent lacks the body: no segment at all.
    net.agents.at(AgentId(9)).SetWants([](uint8_t, JobId, const Bytes&) {
      return false;
    });
    net.segments = 0;
    net.delivered.clear();
    net.Start(AgentId(1), targets, body, "tag");
    net.Run(net.now + absl::Seconds(20));
    EXPECT_EQ(net.segments, 0);
    EXPECT_EQ(net.delivered.size(), targets.size());
    ExpectNothingHeld(net);
  }
}

TEST(Streams, ManyAtOnceKeepApart) {
  Rng rng(11);
  Net net(rng, 16, MulticastPlan::kAuto, SmallSegments(),
          {.jitter = absl::Milliseconds(2)});
  std::map<AgentId, std::string> bodies;
  for (uint64_t i = 1; i <= 16; ++i) {
    bodies[AgentId(i)] = RandomBody(rng, 9'000);
    net.Start(AgentId(i), Others(net, AgentId(i)), bodies[AgentId(i)]);
  }
  net.Run(net.now + absl::Seconds(25));
  for (const auto& [id, body] : bodies) {
    std::set<AgentId> origins;
    for (const Delivery& delivery : net.delivered[id]) {
      EXPECT_TRUE(origins.insert(delivery.origin).second);
      EXPECT_EQ(delivery.body.view(), bodies[delivery.origin]);
    }
    EXPECT_EQ(origins.size(), 15);
  }
}

TEST(Streams, WhatIsOverIsForgottenInTime) {
  Rng rng(5);
  const Limits limits;
  Net net(rng, 4, MulticastPlan::kAgents, limits, {});
  net.Start(AgentId(1), {AgentId(2), AgentId(3), AgentId(4)},
            std::string(5000, 'x'));
  net.Run(net.now + absl::Seconds(1));
  const auto tick = [&](absl::Duration later) {
    net.now += later;
    int64_t finished = 0;
    for (auto& [id, agent] : net.agents) {
      Outbox out;
      agent.Tick({net.now, out});
      finished += agent.streams().finished_count();
      EXPECT_EQ(agent.streams().held_count(), 0);
    }
    return finished;
  };
  EXPECT_EQ(tick(limits.stream_patience), 4);
  EXPECT_EQ(tick(2 * limits.stream_patience), 0);
  // A job's traffic goes with the job.
  Multicast& source = net.agents.at(AgentId(1));
  EXPECT_EQ(source.traffic().at(JobId(3)).publications, 1);
  source.ForgetJob(JobId(3));
  EXPECT_TRUE(source.traffic().empty());
}

// The window bounds what is on its way to a child that gives no credit.
TEST(Streams, CreditBoundsWhatIsSent) {
  Rng rng(12);
  Net net(rng, 3, MulticastPlan::kFlat, SmallSegments(), {});
  Outbox out;
  const std::vector<AgentId> targets = {AgentId(2), AgentId(3)};
  net.agents.at(AgentId(1))
      .Start(targets, 77, JobId(3), Bytes(RandomBody(rng, 100'000)), out);
  // Two offers, and 4000 / 500 segments each.
  EXPECT_EQ(out.messages.size(), 2 + 2 * 8);
}

// The source speaks to the first agent of the chain alone, and knows of no
// bytes that wait for the last.
TEST(Streams, AnAgentBehindOthersIsAwaitedUntilItHasTheBody) {
  Rng rng(13);
  Net net(rng, 4, MulticastPlan::kChain, SmallSegments(), {});
  const std::vector<AgentId> targets = {AgentId(2), AgentId(3), AgentId(4)};
  const std::string body = RandomBody(rng, 100'000);
  net.Start(AgentId(1), targets, body);
  const Streams& source = net.agents.at(AgentId(1)).streams();
  for (const AgentId target : targets) {
    EXPECT_TRUE(source.IsAwaiting(target)) << target.ToString();
  }
  EXPECT_FALSE(source.IsAwaiting(AgentId(1)));
  net.Run(net.now + absl::Milliseconds(3));
  ASSERT_FALSE(net.delivered.contains(AgentId(4)));
  EXPECT_TRUE(source.IsAwaiting(AgentId(4)));
  net.Run(net.now + absl::Minutes(5));
  ExpectAllHave(net, targets, body);
  for (const AgentId target : targets) {
    EXPECT_FALSE(source.IsAwaiting(target)) << target.ToString();
  }
}

// With the window of near agents it took a round trip for each 64 KB.
TEST(Streams, FarAgentsGetAsMuchAtOnceAsIsUnderWay) {
  Rng rng(14);
  Net net(rng, 3, MulticastPlan::kChain, {},
          {.delay = absl::Milliseconds(100)});
  for (auto& [id, agent] : net.agents) {
    agent.NoteRoundTrips(absl::Milliseconds(200), absl::Milliseconds(250));
  }
  const absl::Time begun = net.now;
  const std::string body = RandomBody(rng, 3 << 20);
  net.Start(AgentId(1), {AgentId(2), AgentId(3)}, body);
  net.Run(net.now + absl::Minutes(5));
  ExpectAllHave(net, {AgentId(2), AgentId(3)}, body);
  EXPECT_LT(net.last_delivery - begun, absl::Seconds(1));
  for (const auto& [id, agent] : net.agents) {
    EXPECT_EQ(agent.streams().asked_again_count(), 0);
  }
}

// Four segments from agent 1 to agent 2.
StreamOffer ShortOffer() {
  StreamOffer offer;
  offer.key = {AgentId(1), 5};
  offer.kind = 77;
  offer.plan = MulticastPlan::kChain;
  offer.total = 1600;
  offer.segment_bytes = 500;
  offer.credit = 4;
  offer.targets = {AgentId(2)};
  return offer;
}

Message FromFirst(RoutingKind kind, const Bytes& body) {
  const Envelope head{.kind = static_cast<uint8_t>(kind),
                      .source = AgentId(1),
                      .job = JobId(3)};
  return {head, body};
}

TEST(Streams, LiesAreRefused) {
  Rng rng(13);
  Net net(rng, 3, MulticastPlan::kFlat, SmallSegments(), {});
  Multicast& victim = net.agents.at(AgentId(2));
  const StreamOffer offer = ShortOffer();
  int64_t refused = 0;
  Outbox out;
  std::vector<Delivery> deliveries;
  const auto give = [&](RoutingKind kind, const Bytes& message) {
    victim.Receive({net.now, out}, FromFirst(kind, message), deliveries);
    const bool was_refused = victim.refused_count() > refused;
    refused = victim.refused_count();
    return !was_refused;
  };
  const auto lie = [&](auto change) {
    StreamOffer bad = offer;
    bad.key.number = 99;
    change(bad);
    return give(RoutingKind::kStreamOffer, bad.Encode());
  };
  EXPECT_FALSE(lie([](StreamOffer& o) { o.total = 0; }));
  EXPECT_FALSE(lie([](StreamOffer& o) { o.total = INT64_MAX; }));
  EXPECT_FALSE(lie([](StreamOffer& o) { o.segment_bytes = 1; }));
  EXPECT_FALSE(lie([](StreamOffer& o) { o.targets.clear(); }));
  EXPECT_FALSE(lie([](StreamOffer& o) { o.plan = MulticastPlan::kAuto; }));
  EXPECT_FALSE(lie([](StreamOffer& o) { o.credit = 1 << 20; }));
  EXPECT_FALSE(lie([](StreamOffer& o) { o.hops = 1 << 30; }));
  EXPECT_FALSE(lie([](StreamOffer& o) { o.key.origin = AgentId(); }));
  const Bytes good = offer.Encode();
  for (int64_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(give(RoutingKind::kStreamOffer, good.Slice(0, size)));
  }
  EXPECT_EQ(victim.streams().held_count(), 0);
  EXPECT_TRUE(out.messages.empty());

  EXPECT_TRUE(give(RoutingKind::kStreamOffer, good));
  EXPECT_FALSE(lie([](StreamOffer& o) {
    o.key.number = 5;
    o.total = 1700;
  }));
  const auto segment = [&](int64_t index, size_t size) {
    return give(RoutingKind::kStreamSegment,
                SegmentOf(offer.key, index, std::string(size, 'x')));
  };
  EXPECT_FALSE(segment(0, 499));
  EXPECT_FALSE(segment(0, 501));
  EXPECT_FALSE(segment(4, 500));
  EXPECT_FALSE(segment(3, 500));
  EXPECT_FALSE(segment(int64_t{1} << 60, 500));
  StreamPull pull{.key = offer.key, .have = 5, .limit = 9};
  EXPECT_FALSE(give(RoutingKind::kStreamPull, pull.Encode()));
  pull = {.key = offer.key, .missing = {INT64_MAX, 3}};
  EXPECT_TRUE(give(RoutingKind::kStreamPull, pull.Encode()));
  EXPECT_TRUE(deliveries.empty());
}

void ExpectValuesMayStay(const Bytes& body) {
  EXPECT_TRUE(body.IsAll());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(body.data() + body.size()) % 64, 0u);
}

// Segments in any order, each more than once, one of them lost at first: the
// body comes once, whole, and what was lost is asked for.
TEST(Streams, TakesEachSegmentOnce) {
  Rng rng(15);
  Net net(rng, 3, MulticastPlan::kFlat, SmallSegments(), {});
  Multicast& reader = net.agents.at(AgentId(2));
  const std::string body = RandomBody(rng, 1600);
  const StreamOffer offer = ShortOffer();
  Outbox out;
  std::vector<Delivery> deliveries;
  const auto give = [&](RoutingKind kind, const Bytes& message) {
    reader.Receive({net.now, out}, FromFirst(kind, message), deliveries);
  };
  const auto segment = [&](int64_t index) {
    const std::string part = body.substr(static_cast<size_t>(500 * index), 500);
    give(RoutingKind::kStreamSegment, SegmentOf(offer.key, index, part));
  };
  give(RoutingKind::kStreamOffer, offer.Encode());
  for (const int64_t index : {3, 0, 3, 0, 2, 2, 0}) segment(index);
  EXPECT_TRUE(deliveries.empty()) << "segment 1 is missing";
  bool is_asked_for = false;
  for (int i = 0; i < 100 && !is_asked_for; ++i) {
    net.now += absl::Milliseconds(100);
    out.messages.clear();
    reader.Tick({net.now, out});
    for (const Outbox::OutgoingMessage& wish : out.messages) {
      const auto pull = StreamPull::Decode(wish.body.Join());
      is_asked_for |= pull.ok() && pull->missing == std::vector<int64_t>{1};
    }
  }
  EXPECT_TRUE(is_asked_for);
  for (const int64_t index : {1, 0}) segment(index);
  ASSERT_EQ(deliveries.size(), 1u);
  EXPECT_EQ(deliveries[0].body.view(), body);
  ExpectValuesMayStay(deliveries[0].body);
  EXPECT_EQ(reader.refused_count(), 0);
}

TEST(Streams, SurviveGarbage) {
  Rng rng(14);
  Net net(rng, 4, MulticastPlan::kPrefix, SmallSegments(), {});
  Outbox out;
  net.agents.at(AgentId(1))
      .Start(Others(net, AgentId(1)), 77, JobId(3),
             Bytes(RandomBody(rng, 3'000)), out);
  for (int round = 0; round < 20'000; ++round) {
    const Outbox::OutgoingMessage& wish = out.messages[rng.Below(
        std::min<int64_t>(std::ssize(out.messages), 50))];
    std::string body(wish.body.Join().view());
    for (int64_t i = rng.Below(4); i > 0; --i) {
      body[rng.Below(std::min<int64_t>(60, std::ssize(body)))] =
          static_cast<char>(rng.Next());
    }
    Outbox answers;
    std::vector<Delivery> deliveries;
    const auto to = AgentId(static_cast<uint64_t>(rng.Below(4)) + 1);
    const Envelope head{
        .kind = static_cast<uint8_t>(6 + rng.Below(4)),
        .source = AgentId(static_cast<uint64_t>(rng.Below(5)) + 1),
        .job = JobId(3)};
    net.agents.at(to).Receive({net.now, answers},
                              {head, Bytes(std::move(body))}, deliveries);
    for (Outbox::OutgoingMessage& answer : answers.messages) {
      if (out.messages.size() < 50) out.messages.push_back(std::move(answer));
    }
  }
}

}  // namespace
}  // namespace dogged

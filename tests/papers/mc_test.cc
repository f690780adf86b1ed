// Aim: sentences of [MC] (Song, Dongarra & Moore 2009) hold for our code.
// Method: a sentence for each test, quoted with its section.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "routing/plans/routing_table.h"
#include "runtime/base/random.h"
#include "tests/routing/multicast_cluster.h"

namespace dogged {
namespace {

// The eight nodes 000 to 111 of Fig. 2; agent i + 1 has ID i.
std::vector<Member> EightNodes() {
  std::vector<Member> members;
  for (int i = 0; i < 8; ++i) {
    Member member;
    member.id = AgentId(static_cast<uint64_t>(i + 1));
    const char digits[] = {static_cast<char>(i >> 2 & 1),
                           static_cast<char>(i >> 1 & 1),
                           static_cast<char>(i & 1)};
    member.topology_id =
        *TopologyId::FromDigits(2, absl::string_view(digits, 3));
    members.push_back(member);
  }
  return members;
}

AgentId Node(int number) { return AgentId(static_cast<uint64_t>(number + 1)); }

// "In Fig. 2, the process on node 001 wants to multicast data to {010, 100,
// 101}. For this system with eight nodes, it takes three steps to complete
// the multicast." (section 3): at most three, for whatever virtual masters.
TEST(MulticastPaper, Section3WorkedExample) {
  MulticastCluster cluster(EightNodes(), MulticastPlan::kPrefix, Limits());
  ASSERT_TRUE(cluster.Run(Node(0b001), {Node(0b010), Node(0b100), Node(0b101)},
                          Bytes(std::string("data"))));
  EXPECT_EQ(cluster.delivered.size(), 3);
  // The source sends one message into each of the subtrees 1** and 01*.
  std::set<AgentId> first;
  int steps = 0;
  for (const MulticastCluster::Hop& hop : cluster.hops) {
    steps = std::max(steps, hop.step);
    if (hop.from == Node(0b001)) {
      EXPECT_EQ(hop.step, 1);
      EXPECT_TRUE(first.insert(hop.to).second);
    }
  }
  ASSERT_EQ(first.size(), 2);
  EXPECT_EQ((first.begin()->value() - 1) >> 1, 0b01u);
  EXPECT_EQ((first.rbegin()->value() - 1) >> 2, 0b1u);
  EXPECT_LE(steps, 3);
}

// "For instance, table entry T[3,5] in a node with octal topology ID 012345
// can contain any node with a topology ID in 012[{0-7}/3]..." (section 5); by
// condition (2) that is: first three digits 012, and the next one is 5.
TEST(MulticastPaper, Section5TableEntry) {
  Rng rng(1);
  std::vector<Member> members;
  for (uint64_t i = 0; i < 3000; ++i) {
    Member member;
    member.id = AgentId(i + 1);
    std::string text = i % 2 == 0 ? "8:012" : "8:";
    while (text.size() < 8) {
      text.push_back(static_cast<char>('0' + rng.Below(8)));
    }
    member.topology_id = *TopologyId::Parse(text);
    members.push_back(member);
  }
  const View view(members);
  const RoutingTable table(AgentId(9999), *TopologyId::Parse("8:012345"), view);
  const AgentId entry = table.entry(3, 5);
  ASSERT_FALSE(entry.IsNone());
  EXPECT_EQ(view.Find(entry)->topology_id.ToString().substr(0, 6), "8:0125");
}

// "if one system has 4096 = 2^12 nodes, base = 2^3 leads to a 4-digit octal
// topology ID" (section 5) and "a base of 16 results in a routing table of 5
// rows by 16 columns that equals 80 entries" (section 5.1).
TEST(MulticastPaper, Section5TableSize) {
  const TopologyId million = *TopologyId::Parse("abcde");
  const RoutingTable table(AgentId(1), million, View());
  EXPECT_EQ(table.entry_count(), 80);
  EXPECT_EQ(table.level_count(), DigitsFor(1'000'000, 16));
  EXPECT_LE(table.bytes(), 1024);
  // "If one has a billion (2^30) cores, the routing table is of 6 rows and 32
  // columns given the base 32."
  const TopologyId billion = *TopologyId::Parse("32:abcdef");
  const RoutingTable larger(AgentId(1), billion, View());
  EXPECT_EQ(larger.level_count(), DigitsFor(1'000'000'000, 32));
  EXPECT_EQ(larger.entry_count(), 192);
}

// Lemma 1 (section 7): "there always exists a process P_y stored in P_x's
// neighbor table such that P_x can forward data to P_y and LCD(y,z) >=
// LCD(x,z) + 1": also with holes.
TEST(MulticastPaper, Section7Lemma1) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    std::vector<Member> members;
    std::set<std::string> used;
    for (int64_t i = 0; i < 2 + rng.Below(40); ++i) {
      std::string digits;
      for (int k = 0; k < 5; ++k) {
        digits.push_back(static_cast<char>(rng.Below(3)));
      }
      if (!used.insert(digits).second) continue;
      Member member;
      member.id = AgentId(rng.Next() | 1);
      member.topology_id = *TopologyId::FromDigits(3, digits);
      members.push_back(member);
    }
    const View view(members);
    for (const Member& x : members) {
      const RoutingTable table(x.id, x.topology_id, view);
      for (const Member& z : members) {
        if (x.id == z.id) continue;
        const Member* y = view.Find(NextHop(table, z));
        ASSERT_NE(y, nullptr);
        EXPECT_GE(CommonPrefix(y->topology_id, z.topology_id),
                  CommonPrefix(x.topology_id, z.topology_id) + 1)
            << "seed " << seed;
      }
    }
  }
}

// "multiple sources may want to notify different groups of children
// simultaneously. The new multicast method is able to provide this
// functionality" (section 3): all at once, interleaved message by message.
TEST(MulticastPaper, Section3ConcurrentSources) {
  const std::vector<Member> members = EightNodes();
  const auto view = std::make_shared<const View>(members);
  std::map<AgentId, Multicast> agents;
  for (const Member& member : members) {
    agents.try_emplace(member.id, member.id, MulticastPlan::kPrefix, Limits());
    agents.at(member.id).SetView(view);
  }
  Outbox out;
  for (const Member& source : members) {
    std::vector<AgentId> others;
    for (const Member& member : members) others.push_back(member.id);
    agents.at(source.id).Start(others, 1, JobId(), Bytes(source.id.ToString()),
                               out);
  }
  std::map<AgentId, std::set<std::string>> got;
  Rng rng(4);
  while (!out.messages.empty()) {
    const auto picked =
        static_cast<size_t>(rng.Below(std::ssize(out.messages)));
    const Outbox::OutgoingMessage wish = out.messages[picked];
    out.messages.erase(out.messages.begin() + static_cast<int64_t>(picked));
    std::vector<Delivery> deliveries;
    agents.at(wish.to).Receive({absl::UnixEpoch(), out},
                               {{.kind = wish.kind}, wish.body.Join()},
                               deliveries);
    for (const Delivery& delivery : deliveries) {
      EXPECT_TRUE(
          got[wish.to].insert(std::string(delivery.body.view())).second);
    }
  }
  for (const Member& member : members) EXPECT_EQ(got[member.id].size(), 7);
}

}  // namespace
}  // namespace dogged

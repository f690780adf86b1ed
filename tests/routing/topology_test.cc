// Aim: topology IDs read and print as documented, views and tables are what
// their definitions say. Method: examples, and random views against brute
// force.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "routing/membership/view.h"
#include "routing/plans/routing_table.h"
#include "routing/topology/topology_id.h"
#include "runtime/base/random.h"

namespace dogged {
namespace {

TopologyId Id(absl::string_view text) {
  absl::StatusOr<TopologyId> id = TopologyId::Parse(text);
  EXPECT_TRUE(id.ok()) << id.status().ToString();
  return *id;
}

TEST(TopologyId, ReadsAndPrints) {
  for (const char* text : {"001", "3a7f", "8:0123", "36:zz9", "256:17.3.255",
                           "16:0101", "37:36.0"}) {
    EXPECT_EQ(Id(text).ToString(), text);
  }
  EXPECT_EQ(Id("001").base(), 2);
  EXPECT_EQ(Id("3a").base(), 16);
  EXPECT_EQ(Id("256:17.3.255").digit(2), 255);
  EXPECT_EQ(CommonPrefix(Id("8:0123"), Id("8:0133")), 2);
  EXPECT_EQ(CommonPrefix(Id("001"), Id("001")), 3);
  EXPECT_EQ(CommonPrefix(Id("001"), Id("0010")), 3);
}

TEST(TopologyId, RefusesWhatIsNone) {
  for (const char* text : {"", "xyz", "8:89", "1:0", "257:1", "8:", "256:1.256",
                           "256:1..2", "a:0", "12 "}) {
    EXPECT_FALSE(TopologyId::Parse(text).ok()) << text;
  }
  EXPECT_FALSE(TopologyId::Parse(std::string(65, '0')).ok());
  EXPECT_EQ(TopologyId::Parse("8:0189").status().message(),
            "topology ID \"0189\": '8' is no digit of base 8");
}

// The digits' count is the table's levels: "2048 nodes consist of 4 digits
// with base 8", "256 nodes consist of 4 digits with base 4" [MC slide 11].
TEST(TopologyId, CountsDigits) {
  EXPECT_EQ(DigitsFor(2048, 8), 4);
  EXPECT_EQ(DigitsFor(256, 4), 4);
  EXPECT_EQ(DigitsFor(257, 4), 5);
  EXPECT_EQ(DigitsFor(1, 16), 1);
  EXPECT_EQ(DigitsFor(1'000'000, 16), 5);
  EXPECT_EQ(DigitsFor(1'000'000'000, 32), 6);
}

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

TEST(View, FindsMembersAndDigestsThem) {
  Rng rng(3);
  const View view = RandomView(rng, 4, 4, 30);
  std::vector<Member> members = view.members();
  for (const Member& member : members) {
    EXPECT_EQ(view.Find(member.id)->topology_id, member.topology_id);
  }
  EXPECT_EQ(view.Find(AgentId(2)), nullptr);
  std::reverse(members.begin(), members.end());
  EXPECT_EQ(View(members).digest(), view.digest());
  members.pop_back();
  EXPECT_NE(View(members).digest(), view.digest());
}

TEST(Member, SurvivesTheWire) {
  Member member;
  member.id = AgentId(77);
  member.topology_id = Id("256:1.2.255");
  member.host = "alpha";
  member.control_address = "127.0.0.1:7000";
  member.fabric_address = "127.0.0.1:7001";
  member.workers = 3;
  Encoder encoder;
  member.EncodeTo(encoder);
  Decoder decoder(encoder.view());
  EXPECT_EQ(Member::DecodeFrom(decoder), member);
  EXPECT_TRUE(decoder.Finish("member").ok());
  for (int64_t size = 0; size < encoder.size(); ++size) {
    Decoder cut(encoder.view().substr(0, static_cast<size_t>(size)));
    (void)Member::DecodeFrom(cut);
    EXPECT_FALSE(cut.ok()) << size;
  }
}

// [MC 5]: T[i,j] of x holds y only if y shares exactly i digits with x and has
// j next; a hole only if there is no such y.
std::vector<AgentId> CandidatesOf(const Member& x, const View& view, int i,
                                  int j) {
  std::vector<AgentId> candidates;
  for (const Member& y : view.members()) {
    if (CommonPrefix(x.topology_id, y.topology_id) == i &&
        y.topology_id.digit(i) == j) {
      candidates.push_back(y.id);
    }
  }
  return candidates;
}

void ExpectAsDefined(const Member& self, const View& view) {
  const RoutingTable table(self.id, self.topology_id, view);
  ASSERT_EQ(table.level_count(), self.topology_id.size());
  for (int i = 0; i < table.level_count(); ++i) {
    for (int j = 0; j < table.column_count(); ++j) {
      const std::vector<AgentId> candidates = CandidatesOf(self, view, i, j);
      const AgentId entry = table.entry(i, j);
      EXPECT_EQ(entry.IsNone(), candidates.empty());
      EXPECT_TRUE(entry.IsNone() ||
                  std::count(candidates.begin(), candidates.end(), entry) == 1);
    }
  }
}

TEST(RoutingTable, EntriesAreAsDefined) {
  Rng rng(4);
  for (int round = 0; round < 50; ++round) {
    const int base = 2 + static_cast<int>(rng.Below(15));
    const int digits = 1 + static_cast<int>(rng.Below(5));
    const View view = RandomView(rng, base, digits, 1 + rng.Below(60));
    for (const Member& self : view.members()) {
      ExpectAsDefined(self, view);
    }
  }
}

// "we either pick a process randomly or ..." [MC 6.1]: sources differ in the
// agents that they pick, so that no agent is every source's virtual master.
TEST(RoutingTable, SourcesPickDifferentMasters) {
  Rng rng(12);
  const View view = RandomView(rng, 2, 5, 64);
  std::set<AgentId> picked;
  for (const Member& self : view.members()) {
    if (self.topology_id.digit(0) != 0) continue;
    picked.insert(RoutingTable(self.id, self.topology_id, view).entry(0, 1));
  }
  EXPECT_GT(picked.size(), 8);
}

TEST(LifeLines, AreNeighboursAndTwoSuccessors) {
  Rng rng(6);
  const View view = RandomView(rng, 16, 3, 100);
  for (size_t i = 0; i < 100; ++i) {
    const Member& self = view.members()[i];
    const RoutingTable table(self.id, self.topology_id, view);
    const std::vector<AgentId> lines = LifeLinesOf(table, view, 5);
    EXPECT_LE(lines.size(), 7);
    EXPECT_GE(lines.size(), 5);
    EXPECT_THAT(lines, testing::Not(testing::Contains(self.id)));
    EXPECT_THAT(lines, testing::Contains(view.members()[(i + 1) % 100].id));
    EXPECT_THAT(lines, testing::Contains(view.members()[(i + 2) % 100].id));
  }
  const View alone = RandomView(rng, 2, 2, 1);
  const Member& self = alone.members()[0];
  EXPECT_TRUE(
      LifeLinesOf(RoutingTable(self.id, self.topology_id, alone), alone, 5)
          .empty());
}

}  // namespace
}  // namespace dogged

// Aim: an agent never stops looking for further agents, nor asks members, nor
// floods departed ones. Method: the machine alone, under a clock that we move.
#include "routing/membership/contacts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace dogged {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const absl::Time kStart = absl::UnixEpoch() + absl::Hours(1);

View ViewOf(const std::vector<std::string>& addresses) {
  std::vector<Member> members;
  for (const std::string& address : addresses) {
    Member member;
    member.id = AgentId(members.size() + 1);
    member.control_address = address;
    members.push_back(member);
  }
  return View(std::move(members));
}

TEST(Contacts, DialsThoseThatAreNoMembersWithBackOffForEver) {
  Contacts contacts({"a"});
  contacts.Add("b");
  contacts.Add("self");
  const View view = ViewOf({"self", "b"});
  EXPECT_THAT(contacts.TakeDue(kStart, view, "self"), ElementsAre("a"));
  EXPECT_THAT(contacts.TakeDue(kStart, view, "self"), IsEmpty());
  EXPECT_FALSE(contacts.HasSettled(kStart));
  absl::Time now = kStart;
  absl::Duration last;
  for (int i = 0; i < 50; ++i) {
    contacts.NoteFailure(now, "a");
    EXPECT_THAT(contacts.TakeDue(now, view, "self"), IsEmpty());
    ASSERT_LT(contacts.next_due(), absl::InfiniteFuture());
    last = contacts.next_due() - now;
    now = contacts.next_due();
    EXPECT_THAT(contacts.TakeDue(now, view, "self"), ElementsAre("a"));
  }
  EXPECT_EQ(last, absl::Seconds(4));
  EXPECT_TRUE(contacts.HasSettled(kStart));
  EXPECT_FALSE(contacts.has_joined());
  // A member that is lost is looked for at once, one that left is not.
  contacts.NoteFailure(now, "a");
  const View alone = ViewOf({"self"});
  EXPECT_THAT(contacts.TakeDue(now, alone, "self"), ElementsAre("b"));
  contacts.Remove("b");
  contacts.Remove("a");  // but its user named it
  EXPECT_EQ(contacts.size(), 2);
}

TEST(Contacts, AGivenNameCountsAsTheMemberThatAnsweredThere) {
  Contacts contacts({"name:1"});
  const View view = ViewOf({"self", "numeric"});
  EXPECT_THAT(contacts.TakeDue(kStart, view, "self"), ElementsAre("name:1"));
  contacts.NoteAnswer("name:1", AgentId(2), /*is_self=*/false);
  EXPECT_TRUE(contacts.has_joined());
  EXPECT_THAT(contacts.TakeDue(kStart, view, "self"), IsEmpty());
  EXPECT_EQ(contacts.next_due(), absl::InfiniteFuture());
  EXPECT_THAT(contacts.TakeDue(kStart, ViewOf({"self"}), "self"),
              ElementsAre("name:1"));
}

TEST(Contacts, WhoHasTheAddressOfAMemberMayBeAStranger) {
  Contacts contacts({"given"});
  contacts.Add("given", AgentId(1));
  contacts.Add("member", AgentId(2));
  contacts.SetListed({"listed"});
  contacts.Add("listed", AgentId(3));
  EXPECT_FALSE(contacts.IsRemembered("given"));
  EXPECT_FALSE(contacts.IsRemembered("listed"));
  EXPECT_TRUE(contacts.IsRemembered("member"));
  contacts.Prefer("member");
  EXPECT_FALSE(contacts.IsRemembered("member"));
  contacts.BeginAnew();
  EXPECT_THAT(contacts.kin(), ElementsAre(AgentId(1), AgentId(2), AgentId(3)));
  for (uint64_t id = 4; id < 400; ++id) contacts.Add("member", AgentId(id));
  EXPECT_EQ(contacts.kin().size(), 256u);
  EXPECT_EQ(contacts.kin().back(), AgentId(399));
}

TEST(Contacts, ThePreferredOneIsDialedAlone) {
  Contacts contacts({"a", "b"});
  contacts.BeginAnew();
  contacts.Prefer("c");
  const View view = ViewOf({"self"});
  EXPECT_THAT(contacts.TakeDue(kStart, view, "self"), ElementsAre("c"));
  contacts.NoteFailure(kStart, "c");
  EXPECT_THAT(contacts.TakeDue(kStart, view, "self"), ElementsAre("a", "b"));
}

// Points may list others each second.
TEST(Contacts, ListedAddressesAreDialedWhileTheyAreListed) {
  Contacts contacts({"given"});
  contacts.Add("member");
  const View view = ViewOf({"self"});
  contacts.SetListed({"x", "y", "given", "member"});
  EXPECT_THAT(contacts.TakeDue(kStart, view, "self"),
              ElementsAre("given", "member", "x", "y"));
  contacts.SetListed({"z"});
  EXPECT_EQ(contacts.size(), 3);
  contacts.NoteFailure(kStart, "x");  // a dial that outlives its contact
  contacts.NoteAnswer("y", AgentId(7), /*is_self=*/false);
  EXPECT_EQ(contacts.size(), 3);
  EXPECT_THAT(contacts.TakeDue(kStart, view, "self"), ElementsAre("z"));
  contacts.SetListed({});
  EXPECT_EQ(contacts.size(), 2);
}

TEST(Contacts, OneThatMeetsOthersSomewhereSettlesOnceItHasLookedThere) {
  Contacts contacts({});
  EXPECT_TRUE(contacts.HasSettled(kStart));
  contacts.AwaitListing();
  const View view = ViewOf({"self"});
  EXPECT_THAT(contacts.TakeDue(kStart, view, "self"), IsEmpty());
  EXPECT_FALSE(contacts.HasSettled(kStart));
  EXPECT_TRUE(contacts.HasSettled(contacts.settles_at()));  // or for too long
  contacts.SetListed({"a"});
  EXPECT_FALSE(contacts.HasSettled(kStart));
  contacts.SetListed({});
  EXPECT_TRUE(contacts.HasSettled(kStart));
}

// So that their owners can be told from others that are only of no use.
TEST(Contacts, ListedAddressesWithoutAnAnswerAreNamedOnce) {
  Contacts contacts({"given"});
  contacts.SetListed({"gone", "refuses"});
  for (int i = 0; i < 10; ++i) {
    contacts.NoteFailure(kStart, "given");
    contacts.NoteFailure(kStart, "gone");
    contacts.NoteRefusal(kStart, "refuses");
    EXPECT_EQ(contacts.has_silent(), i == 3) << i;
    const std::vector<std::string> silent = contacts.TakeSilent();
    EXPECT_EQ(silent, i == 3 ? std::vector<std::string>{"gone"}
                             : std::vector<std::string>{})
        << i;
  }
}

// A process that has a member's address now, and other keys, is left alone in
// the end; addresses that a user gave are not.
TEST(Contacts, AddressesThatRefuseAreDialedSeldomAndThenDropped) {
  Contacts contacts({"given"});
  contacts.Add("member");
  contacts.Add("mended");
  contacts.SetListed({"listed"});
  const View view = ViewOf({"self"});
  absl::Time now = kStart;
  std::vector<std::string> silent;
  int dials = 0;
  while (contacts.size() == 4 && dials < 1000) {
    for (const std::string& address : contacts.TakeDue(now, view, "self")) {
      ++dials;
      // An address that can't be reached for once is not one that refuses all
      // the time.
      if (address == "mended" && dials % 7 == 0) {
        contacts.NoteFailure(now, address);
      } else {
        contacts.NoteRefusal(now, address);
      }
    }
    const std::vector<std::string> more = contacts.TakeSilent();
    silent.insert(silent.end(), more.begin(), more.end());
    now = std::max(now + absl::Milliseconds(1), contacts.next_due());
  }
  // Its agent may live, and be of another cluster.
  EXPECT_THAT(silent, IsEmpty());
  EXPECT_GE(now - kStart, absl::Minutes(4));
  EXPECT_LE(now - kStart, absl::Minutes(6));
  EXPECT_LE(dials, 4 * 12);
  EXPECT_THAT(contacts.TakeDue(now + absl::Minutes(1), view, "self"),
              ElementsAre("given", "listed", "mended"));
  contacts.SetListed({});
  EXPECT_EQ(contacts.size(), 2);
}

// Some at a time, and in a large cluster each agent more seldom.
TEST(Contacts, ThePaceIsBounded) {
  Contacts contacts({});
  std::vector<std::string> members = {"self"};
  for (int i = 0; i < 100; ++i) {
    contacts.Add("gone" + std::to_string(i));
    members.push_back("member" + std::to_string(i));
  }
  const View view = ViewOf(members);
  std::vector<std::string> due = contacts.TakeDue(kStart, view, "self");
  EXPECT_EQ(due.size(), 8);
  absl::Time now = kStart;
  for (int i = 0; i < 20; ++i) {
    contacts.NoteFailure(now, "gone0");
    (void)contacts.TakeDue(now, view, "self");
    for (const std::string& address : due) contacts.NoteFailure(now, address);
    now += absl::Minutes(2);
    due = contacts.TakeDue(now, view, "self");
    EXPECT_LE(due.size(), 8);
  }
  EXPECT_GE(contacts.size(), 100);
}

}  // namespace
}  // namespace dogged

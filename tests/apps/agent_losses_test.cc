// Aim: a run counts as lost who died, once, and nobody who took leave, in
// whatever order agents say so. Method: replies made by hand.
#include "apps/dogged/run/agent_losses.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The reply of agent `self`: states of the agents from 1 on.
StatusReply ReplyOf(uint64_t self, const std::vector<std::string>& states) {
  StatusReply out;
  out.self = AgentId(self);
  for (size_t i = 0; i < states.size(); ++i) {
    MemberStatus member;
    member.member.id = AgentId(i + 1);
    member.member.control_address = "agent " + std::to_string(i + 1);
    member.state = states[i];
    member.cause = states[i] == "dead" ? "its connection closed" : "";
    out.members.push_back(member);
  }
  return out;
}

std::vector<std::string> NamesOf(const std::vector<Loss>& losses) {
  std::vector<std::string> out;
  for (const Loss& loss : losses) out.push_back(loss.who);
  return out;
}

constexpr absl::Duration kAfter = absl::Seconds(2);

TEST(AgentLosses, WhoDiedIsLostOnce) {
  AgentLosses losses;
  losses.Note({ReplyOf(1, {"alive", "alive", "alive"})}, kAfter);
  const std::vector<StatusReply> replies = {
      ReplyOf(1, {"alive", "alive", "dead"}),
      ReplyOf(2, {"alive", "alive", "dead"})};
  EXPECT_THAT(NamesOf(losses.Note(replies, kAfter)), ElementsAre("agent 3"));
  EXPECT_THAT(losses.Note(replies, kAfter), IsEmpty());
  ASSERT_THAT(NamesOf(losses.losses()), ElementsAre("agent 3"));
  EXPECT_EQ(losses.losses()[0].cause, "its connection closed");
  EXPECT_THAT(losses.lost(), ElementsAre(AgentId(3)));
  EXPECT_EQ(losses.known_count(), 3);
  EXPECT_EQ(losses.alive_count(), 2);
  // Silence of all agents is no death.
  losses.Note({}, kAfter);
  EXPECT_EQ(losses.alive_count(), 2);
}

// 2 is alive for all and says nothing; of 3, one knows that it left.
TEST(AgentLosses, WhoLivesAndDoesNotReplyIsUnheard) {
  EXPECT_THAT(
      AgentLosses::Unheard({ReplyOf(1, {"alive", "suspect", "alive"}),
                            ReplyOf(4, {"alive", "alive", "left", "alive"})}),
      ElementsAre("agent 2"));
  EXPECT_THAT(AgentLosses::Unheard({ReplyOf(1, {"alive", "dead"})}), IsEmpty());
}

// 2 left; 3, who is killed a little later, saw its process end first.
TEST(AgentLosses, WhoLeftIsNotLostWhateverOneSays) {
  const StatusReply knows = ReplyOf(1, {"alive", "left", "alive"});
  const StatusReply guesses = ReplyOf(3, {"alive", "dead", "alive"});
  for (const bool together : {true, false}) {
    AgentLosses losses;
    losses.Note({ReplyOf(1, {"alive", "alive", "alive"})}, kAfter);
    if (together) {
      EXPECT_THAT(losses.Note({guesses, knows}, kAfter), IsEmpty());
    } else {
      losses.Note({guesses}, kAfter);
      losses.Note({knows}, kAfter);
    }
    EXPECT_THAT(losses.losses(), IsEmpty());
    EXPECT_EQ(losses.left_count(), 1);
    EXPECT_EQ(losses.alive_count(), 2);
    EXPECT_THAT(losses.Note({guesses}, kAfter), IsEmpty());
    losses.Note({ReplyOf(1, {"alive", "left", "dead"})}, kAfter);
    EXPECT_THAT(NamesOf(losses.losses()), ElementsAre("agent 3"));
    EXPECT_THAT(losses.lost(), ElementsAre(AgentId(3)));
  }
}

TEST(AgentLosses, WhoWasGoneBeforeIsNoMatter) {
  AgentLosses losses;
  losses.Note({ReplyOf(1, {"alive", "dead"})}, kAfter);
  EXPECT_THAT(losses.losses(), IsEmpty());
  EXPECT_EQ(losses.known_count(), 1);
  EXPECT_EQ(losses.alive_count(), 1);
}

TEST(AgentLosses, TheFirstReplacementCounts) {
  AgentLosses losses;
  losses.Lose("agent-2", AgentId(2), "killed by signal 9", kAfter);
  losses.Replace(0, "agent-3");
  losses.Replace(0, "agent-4");
  EXPECT_EQ(losses.losses()[0].replaced_by, "agent-3");
}

}  // namespace
}  // namespace dogged

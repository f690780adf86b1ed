// Aim: an agent to which a hand-over is owed hears exactly once that it is
// complete, and waits no longer than until then or its limit. Method: both
// sides, step by step.
#include "kvstore/replication/handover.h"

#include "gmock/gmock.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const AgentId kGiver(1);
const AgentId kTaker(2);

Reader ReaderOf(int64_t i) { return {.group = 0, .index = {i}}; }

TEST(Handover, WhoIsOwedHearsOnceThatAllHasArrived) {
  Handover handover;
  const Label label{.array = 0, .index = {1}};
  handover.Give(kTaker, label);  // not owed: does not count
  EXPECT_THAT(handover.TakeComplete(), IsEmpty());
  handover.Owe(kTaker);
  handover.Give(kTaker, label);
  handover.Give(kTaker, ReaderOf(3));
  EXPECT_THAT(handover.TakeComplete(), IsEmpty());
  handover.Settle(kTaker, label);
  EXPECT_THAT(handover.TakeComplete(), IsEmpty())
      << "the reader is still at it";
  const Label made{.array = 0, .index = {3}};
  handover.Give(kTaker, made);
  handover.Settle(ReaderOf(3));
  EXPECT_THAT(handover.TakeComplete(), IsEmpty()) << "its output is on its way";
  handover.Settle(kTaker, made);
  EXPECT_THAT(handover.TakeComplete(), ElementsAre(kTaker));
  EXPECT_THAT(handover.TakeComplete(), IsEmpty());
}

TEST(Handover, WhoIsGoneIsOwedNothing) {
  Handover handover;
  handover.Owe(kTaker);
  handover.ForgetIf([](AgentId to) { return to == kTaker; });
  EXPECT_THAT(handover.TakeComplete(), IsEmpty());
}

TEST(Handover, HoldsWhatWasAnothersUntilItIsHandedOver) {
  const Placement former({{kGiver, "a", 1}, {kTaker, "b", 1}}, 1);
  uint64_t own = 0;
  uint64_t others = 0;
  while (former.Home(own) != kTaker) ++own;
  while (former.Home(others) != kGiver) ++others;
  const absl::Time limit = absl::FromUnixSeconds(10);
  for (const bool is_told : {true, false}) {
    Handover handover;
    EXPECT_FALSE(handover.IsHeld(others, kTaker));
    handover.Await(kGiver, limit, former);
    EXPECT_TRUE(handover.IsHeld(others, kTaker));
    EXPECT_FALSE(handover.IsHeld(own, kTaker));
    EXPECT_EQ(handover.NextLimit(), limit);
    handover.Expire(limit - absl::Seconds(1));
    EXPECT_TRUE(handover.IsAwaiting());
    if (is_told) {
      handover.EndAwait(kGiver);
    } else {
      handover.Expire(limit);
    }
    EXPECT_FALSE(handover.IsHeld(others, kTaker));
    EXPECT_EQ(handover.NextLimit(), absl::InfiniteFuture());
  }
}

// The dead hand over nothing; an agent that leaves is no member either.
TEST(Handover, NothingIsAwaitedOfTheDead) {
  const Placement former({{kGiver, "a", 1}, {kTaker, "b", 1}}, 1);
  const absl::Time limit = absl::FromUnixSeconds(10);
  const auto is_gone = [](AgentId agent) { return agent == kGiver; };
  Handover handover;
  handover.Await(kGiver, limit, former);
  handover.ForgetIf(is_gone);
  EXPECT_FALSE(handover.IsAwaiting());
  handover.Await(kGiver, limit, former);
  handover.AwaitLeaver(kGiver, limit, former);
  handover.ForgetIf(is_gone);
  EXPECT_TRUE(handover.IsAwaiting(kGiver));
}

}  // namespace
}  // namespace dogged

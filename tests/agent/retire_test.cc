// Aim: the rules by which labels are dropped, and made again. Method: one
// agent's part in a job, and messages by hand.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/job/job_run.h"
#include "tests/agent/one_agent.h"

namespace dogged {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const Label kFirst{.array = 0, .index = {0}};
const Label kSecond{.array = 1, .index = {0}};
const Label kLast{.array = 2, .index = {0}};
const Task kMakesSecond{.task_class = 1, .index = {0}};
const Task kMakesLast{.task_class = 2, .index = {0}};

Value One() { return Sealed(Value::Scalar(1)); }

// Runs what is ready, which is one task.
void RunNext(OneAgent& agent, const Task& expected) {
  agent.Pass(absl::ZeroDuration());
  std::vector<ReadyTask> tasks = agent.tasks().TakeAll();
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].task, expected);
  agent.Complete(std::move(tasks[0]), {One()});
}

// need(L): the consumer of `first` has run, and only its own consumer, which
// runs elsewhere, has not.
TEST(Retire, ALabelGoesOnceTheOutputsOfItsConsumersAreDurable) {
  for (const int replicas : {1, 2}) {
    SCOPED_TRACE(replicas);
    OneAgent agent(Chain(kSelf, kSelf, kPeer), {.replicas = replicas});
    RunNext(agent, {.task_class = 0, .index = {0}});
    EXPECT_EQ(agent.run().held_count(), 1);
    RunNext(agent, kMakesSecond);
    // With two copies wanted there is one of `second` so far.
    EXPECT_EQ(agent.run().held_count(), replicas);
    // Only one of these two holders has a rank.
    for (const AgentId holder : {kPeer, kThird}) {
      agent.Receive(holder, LabelMessage::kStored,
                    EncodeAnnounce({kSecond, One().digest()}));
    }
    EXPECT_EQ(agent.run().held_count(), 1);
    agent.Receive(kPeer, LabelMessage::kDone,
                  EncodeDone({.label = kSecond, .reader = kMakesLast}));
    EXPECT_EQ(agent.run().held_count(), 0);
  }
}

// Also a result whose consumers are all done, or which has none.
TEST(Retire, AResultStays) {
  OneAgent agent(Chain(kPeer, kPeer, kSelf));
  agent.Receive(kPeer, LabelMessage::kPublish, EncodePublish(kSecond, One()));
  RunNext(agent, kMakesLast);
  for (int i = 0; i < 100; ++i) agent.Pass(absl::Seconds(1));
  EXPECT_EQ(agent.run().held_count(), 1);
}

TEST(Retire, ACopyGoesWhenItsHomeSaysSoAndNothingElseDoes) {
  // All three have a rank.
  OneAgent agent(Chain(kPeer, kThird, kThird), {.replicas = 3});
  agent.Receive(kPeer, LabelMessage::kPublish, EncodePublish(kFirst, One()));
  EXPECT_EQ(agent.run().held_count(), 1);
  agent.Receive(kThird, LabelMessage::kRetired,
                EncodeRetired({.label = kFirst}));
  EXPECT_EQ(agent.run().held_count(), 1) << "it is not the home";
  agent.Receive(kPeer, LabelMessage::kRetired,
                EncodeRetired({.label = kFirst}));
  EXPECT_EQ(agent.run().held_count(), 0);
}

TEST(Retire, NobodyElseSaysThatALabelOfThisHomeGoes) {
  OneAgent agent(Chain(kSelf, kPeer, kPeer));
  RunNext(agent, {.task_class = 0, .index = {0}});
  for (const AgentId other : {kPeer, kThird}) {
    agent.Receive(other, LabelMessage::kRetired,
                  EncodeRetired({.label = kFirst}));
  }
  EXPECT_EQ(agent.run().held_count(), 1);
}

TEST(Retire, WhoHoldsACopyIsToldThatItGoes) {
  OneAgent agent(Chain(kSelf, kPeer, kPeer), {.replicas = 3});
  RunNext(agent, {.task_class = 0, .index = {0}});
  agent.Receive(kThird, LabelMessage::kStored,
                EncodeAnnounce({kFirst, One().digest()}));
  const Bytes retired = EncodeRetired({.label = kFirst});
  EXPECT_EQ(agent.SentWith(kThird, retired), 0);
  agent.Receive(kPeer, LabelMessage::kDone,
                EncodeDone({.label = kFirst, .reader = kMakesSecond}));
  EXPECT_EQ(agent.run().held_count(), 0);
  EXPECT_EQ(agent.SentWith(kThird, retired), 1);
}

// A demand that may be late is answered; a certain demand that insists has the
// label made again, which then stays as long as the retained generation below
// it.
TEST(Retire, WhatIsNeededForCertainIsMadeAgain) {
  OneAgent agent(Chain(kSelf, kPeer, kPeer));
  RunNext(agent, {.task_class = 0, .index = {0}});
  const auto done = [&] {
    agent.Receive(kPeer, LabelMessage::kDone,
                  EncodeDone({.label = kFirst, .reader = kMakesSecond}));
  };
  done();
  EXPECT_EQ(agent.run().held_count(), 0);
  for (const bool certain : {false, true}) {
    agent.Sent(kPeer, LabelMessage::kRetired);
    agent.Receive(kPeer, LabelMessage::kDemand,
                  EncodeDemand({.label = kFirst,
                                .reader = kMakesSecond,
                                .kind = GuessOrCertain(certain)}));
    agent.Pass(absl::ZeroDuration());
    EXPECT_THAT(agent.tasks().TakeAll(), IsEmpty());
  }
  agent.Receive(kPeer, LabelMessage::kDemand,
                EncodeDemand({.label = kFirst,
                              .reader = kMakesSecond,
                              .kind = DemandKind::kInsistent}));
  RunNext(agent, {.task_class = 0, .index = {0}});
  EXPECT_THAT(agent.Sent(kPeer, LabelMessage::kPublish), SizeIs(1));
  EXPECT_EQ(agent.run().held_count(), 1);
  done();
  EXPECT_EQ(agent.run().held_count(), 1) << "until its row is further";
}

// u(t) needs u(t-1), and its home dies. That u(8) was bound does not say that
// u(5) is durable, for which u(4) is needed; that u(8) can go does.
TEST(Retire, AMarkOfTheDeadDropsNothing) {
  ProgramBuilder b("row");
  const AffineExpr t = AffineExpr::Index(0);
  const int32_t u = AddRow(b, "u", kPeer);
  const int32_t add = b.AddKernel({"add", "test", ""});
  b.AddClass({.name = "first",
              .creates = {{u, {AffineExpr::Constant(0)}}},
              .kernel = add});
  b.AddClass({.name = "next",
              .domain = Domain::Box({{"t", 1, 20}}),
              .creates = {{u, {t}}},
              .uses = {{u, {t - AffineExpr::Constant(1)}, {}}},
              .kernel = add});
  b.AddResult(u, Domain::Box({{"t", 20, 20}}));
  b.SetEveryTaskNeeded();
  OneAgent agent(std::move(b).Build().value(), {.replicas = 3});
  for (const int64_t step : {4, 8}) {
    agent.Receive(kPeer, LabelMessage::kPublish,
                  EncodePublish({.array = 0, .index = {step}}, One()));
  }
  agent.StayAlone();
  EXPECT_EQ(agent.run().held_count(), 2);
  RunNext(agent, {.task_class = 1, .index = {9}});
  EXPECT_EQ(agent.run().held_count(), 2) << "u(4) and u(9)";
  for (int i = 0; i < 10; ++i) agent.Pass(absl::Seconds(1));
  EXPECT_EQ(agent.run().held_count(), 1) << "u(9)";
}

}  // namespace
}  // namespace dogged

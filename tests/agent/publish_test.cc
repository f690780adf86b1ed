// Aim: the agents that hear of a new value, and how early. Method: one agent's
// part in a job, and messages by hand.
#include <algorithm>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/job/job_run.h"
#include "tests/agent/one_agent.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Each of `readers` has a task that reads what one task of `maker` makes.
Program Read(AgentId maker, const std::vector<AgentId>& readers) {
  ProgramBuilder b("read");
  const AffineExpr zero = AffineExpr::Constant(0);
  const int32_t add = b.AddKernel({"add", "test", ""});
  const int32_t x = AddRow(b, "x", maker);
  b.AddClass({.name = "x", .creates = {{x, {zero}}}, .kernel = add});
  for (const AgentId reader : readers) {
    const std::string name = "y" + reader.ToString();
    const int32_t y = AddRow(b, name, reader);
    b.AddClass({.name = name,
                .creates = {{y, {zero}}},
                .uses = {{x, {zero}, {}}},
                .kernel = add});
    b.AddResult(y, Domain::Box({{"t", 0, 0}}));
  }
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

std::vector<AgentId> RousedBy(const std::vector<AgentId>& readers) {
  OneAgent agent(Read(kSelf, readers));
  std::vector<ReadyTask> tasks = agent.tasks().TakeAll();
  EXPECT_THAT(tasks, SizeIs(1));
  EXPECT_THAT(agent.WokenEarly(), IsEmpty());
  agent.Complete(std::move(tasks.at(0)), {Sealed(Value::Scalar(1))});
  return agent.WokenEarly();
}

// The receiver may sleep, and wakes up while the message is made.
TEST(Publish, WakesTheOneWhoIsToldEarly) {
  EXPECT_THAT(RousedBy({kPeer}), ElementsAre(kPeer));
}

// The message goes to one of them, who sends it on.
TEST(Publish, WakesNobodyEarlyWhoIsToldByOthers) {
  EXPECT_THAT(RousedBy({kPeer, kThird}), IsEmpty());
}

TEST(Publish, WakesNobodyForItself) {
  EXPECT_THAT(RousedBy({kSelf}), IsEmpty());
}

// Has `agent` make a value of 16 KB, which other agents ask for.
Bytes BindLarge(OneAgent& agent) {
  std::vector<ReadyTask> tasks = agent.tasks().TakeAll();
  EXPECT_THAT(tasks, SizeIs(1));
  const Value value = Sealed(Value::Allocate(ElementType::kDouble, {2048}));
  agent.Complete(std::move(tasks.at(0)), {value});
  return EncodePublish({.array = 0, .index = {0}}, value);
}

const Bytes kDemandOfIt = EncodeDemand(
    {.label = {.array = 0, .index = {0}}, .kind = DemandKind::kFetch});

// The bytes that wait for an agent do not grow without end.
TEST(Publish, WhatIsDemandedWaitsForCredit) {
  OneAgent agent(Read(kSelf, {kSelf}));
  const Bytes value = BindLarge(agent);
  agent.queued_bytes = int64_t{1} << 30;
  for (int i = 0; i < 3; ++i) {
    agent.Receive(kPeer, LabelMessage::kDemand, kDemandOfIt);
  }
  agent.Pass(absl::Milliseconds(1));
  EXPECT_EQ(agent.SentWith(kPeer, value), 0);
  agent.queued_bytes = 0;
  agent.Pass(absl::Milliseconds(1));
  EXPECT_EQ(agent.SentWith(kPeer, value), 1);
  agent.Pass(absl::Milliseconds(1));
  EXPECT_EQ(agent.SentWith(kPeer, value), 0);
}

TEST(Publish, WhatIsUnderWayIsNotSentAgain) {
  OneAgent agent(Read(kSelf, {kSelf}));
  const Bytes value = BindLarge(agent);
  const auto sent_when_asked = [&](int64_t queued_bytes, absl::Duration later) {
    agent.queued_bytes = queued_bytes;
    agent.Pass(later);
    agent.Receive(kPeer, LabelMessage::kDemand, kDemandOfIt);
    return agent.SentWith(kPeer, value);
  };
  EXPECT_EQ(sent_when_asked(0, absl::ZeroDuration()), 1);
  EXPECT_EQ(sent_when_asked(100000, absl::Milliseconds(500)), 0);
  // The receiver has all bytes sent, or they were lost.
  EXPECT_EQ(sent_when_asked(0, absl::Milliseconds(1)), 1);
  // Behind others' bytes it may be lost as well.
  EXPECT_EQ(sent_when_asked(100000, absl::Seconds(6)), 1);
}

// Two others get it, one by way of the other: neither has said that it has it.
TEST(Publish, WhatIsUnderWayBehindAnotherAgentIsNotSentAgain) {
  OneAgent agent(Read(kSelf, {kPeer, kThird}), {.replicas = 1},
                 MulticastPlan::kChain);
  const Bytes value = BindLarge(agent);
  agent.Pass(absl::Milliseconds(1));
  // The first gets it in pieces, and passes them on.
  EXPECT_EQ(agent.SentWith(kThird, value), 0);
  for (const AgentId reader : {kPeer, kThird}) {
    agent.Receive(reader, LabelMessage::kDemand, kDemandOfIt);
    agent.Pass(absl::Milliseconds(1));
    EXPECT_EQ(agent.SentWith(reader, value), 0) << reader.ToString();
  }
}

// The third agent needs it for nothing that its home knows of.
TEST(Publish, WhoAskedEarlyGetsItOnceItIsBound) {
  OneAgent agent(Read(kSelf, {kPeer}));
  std::vector<ReadyTask> tasks = agent.tasks().TakeAll();
  ASSERT_THAT(tasks, SizeIs(1));
  agent.Receive(kThird, LabelMessage::kDemand, kDemandOfIt);
  const Value value = Sealed(Value::Scalar(1));
  const Bytes body = EncodePublish({.array = 0, .index = {0}}, value);
  EXPECT_EQ(agent.SentWith(kThird, body), 0);
  agent.Complete(std::move(tasks.at(0)), {value});
  EXPECT_EQ(agent.SentWith(kThird, body), 1);
}

// The consumer's home does not answer: each announcement may be lost.
TEST(Publish, IsAnnouncedAgainWithBackOff) {
  OneAgent agent(Read(kSelf, {kPeer}));
  std::vector<ReadyTask> tasks = agent.tasks().TakeAll();
  ASSERT_THAT(tasks, SizeIs(1));
  agent.Complete(std::move(tasks.at(0)), {Sealed(Value::Scalar(1))});
  (void)agent.AllSent(LabelMessage::kAnnounce);
  std::vector<int> pauses;
  for (int i = 0, last = 0; i < 600; ++i) {
    agent.Pass(absl::Milliseconds(100));
    if (agent.Sent(kPeer, LabelMessage::kAnnounce).empty()) continue;
    pauses.push_back(i - last);
    last = i;
  }
  ASSERT_GT(pauses.size(), 5u);
  EXPECT_GT(pauses.at(2), 2 * pauses.at(0));
  EXPECT_LE(*std::max_element(pauses.begin(), pauses.end()), 100);
  agent.Receive(kPeer, LabelMessage::kDone,
                EncodeDone({.label = {.array = 0, .index = {0}},
                            .reader = Task{.task_class = 1, .index = {}}}));
  agent.Pass(absl::Seconds(20));
  EXPECT_THAT(agent.Sent(kPeer, LabelMessage::kAnnounce), IsEmpty());
}

}  // namespace
}  // namespace dogged

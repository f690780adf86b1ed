// Aim: a label that is made again with another digest ends the job, also where
// the first value was dropped, or was another agent's; an agent that knows a
// digest tells the new home. Method: one agent's part in a job, and messages by
// hand.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/job/job_run.h"
#include "tests/agent/one_agent.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

const Label kFirst{.array = 0, .index = {0}};
const Label kSecond{.array = 1, .index = {0}};
const Task kMakesLast{.task_class = 2, .index = {0}};

Value Number(double number) { return Sealed(Value::Scalar(number)); }

void RunNext(OneAgent& agent, double number) {
  agent.Pass(absl::ZeroDuration());
  std::vector<ReadyTask> tasks = agent.tasks().TakeAll();
  ASSERT_THAT(tasks, SizeIs(1));
  agent.Complete(std::move(tasks[0]), {Number(number)});
}

void ExpectConflict(OneAgent& agent, absl::string_view label) {
  EXPECT_EQ(agent.run().failure().code(), absl::StatusCode::kDataLoss);
  const std::string words(agent.run().failure().message());
  EXPECT_THAT(words, HasSubstr(label));
  EXPECT_THAT(words, HasSubstr("has two values: "));
  EXPECT_THAT(words, HasSubstr(Number(1).digest().ToString()));
  EXPECT_THAT(words, HasSubstr(Number(2).digest().ToString()));
}

TEST(Digests, ADroppedLabelIsCompared) {
  OneAgent agent(Chain(kSelf, kSelf, kPeer));
  RunNext(agent, 1);
  RunNext(agent, 1);
  agent.Receive(kPeer, LabelMessage::kDone,
                EncodeDone({.label = kSecond, .reader = kMakesLast}));
  ASSERT_EQ(agent.run().held_count(), 0);
  ASSERT_TRUE(agent.run().failure().ok());
  agent.Receive(kThird, LabelMessage::kPublish,
                EncodePublish(kSecond, Number(1)));
  EXPECT_TRUE(agent.run().failure().ok());
  OneAgent other(Chain(kSelf, kSelf, kPeer));
  RunNext(other, 1);
  RunNext(other, 1);
  other.Receive(kPeer, LabelMessage::kDone,
                EncodeDone({.label = kSecond, .reader = kMakesLast}));
  other.Receive(kThird, LabelMessage::kPublish,
                EncodePublish(kSecond, Number(2)));
  ExpectConflict(other, "second(0)");
}

TEST(Digests, AnAnnouncementOfADroppedLabelIsCompared) {
  for (const LabelMessage kind :
       {LabelMessage::kAnnounce, LabelMessage::kStored}) {
    OneAgent agent(Chain(kSelf, kSelf, kPeer));
    RunNext(agent, 1);
    RunNext(agent, 1);
    agent.Receive(kPeer, LabelMessage::kDone,
                  EncodeDone({.label = kSecond, .reader = kMakesLast}));
    ASSERT_EQ(agent.run().held_count(), 0);
    agent.Receive(kThird, kind, EncodeAnnounce({kSecond, Number(2).digest()}));
    ExpectConflict(agent, "second(0)");
  }
}

// The home of a consumer has used up what its home then loses.
TEST(Digests, AReaderComparesWhatItHasRead) {
  OneAgent agent(Chain(kPeer, kSelf, kPeer));
  agent.Receive(kPeer, LabelMessage::kPublish,
                EncodePublish(kFirst, Number(1)));
  RunNext(agent, 5);
  ASSERT_TRUE(agent.run().failure().ok());
  agent.Receive(kThird, LabelMessage::kPublish,
                EncodePublish(kFirst, Number(2)));
  ExpectConflict(agent, "first(0)");
}

TEST(Digests, HandedOverTheyAreComparedBeforeAndAfter) {
  for (const bool is_before : {true, false}) {
    OneAgent agent(Chain(kSelf, kSelf, kPeer));
    const Bytes watermarks =
        EncodeWatermarks({.digests = {{kSecond, {{0, Number(2).digest()}}}}});
    if (is_before) agent.Receive(kPeer, LabelMessage::kWatermarks, watermarks);
    RunNext(agent, 1);
    RunNext(agent, 1);
    if (!is_before) agent.Receive(kPeer, LabelMessage::kWatermarks, watermarks);
    ExpectConflict(agent, "second(0)");
  }
}

TEST(Digests, TheNewHomeHearsOfThoseThatOthersHaveRead) {
  Program program = Chain(kPeer, kSelf, kPeer);
  program.arrays[0].affinity_group = OneAgent::GroupAt({kPeer, kThird});
  OneAgent agent(std::move(program));
  agent.Receive(kPeer, LabelMessage::kPublish,
                EncodePublish(kFirst, Number(1)));
  EXPECT_THAT(agent.AllSent(LabelMessage::kWatermarks), IsEmpty());
  agent.StayWith({kThird});
  std::vector<RowDigests> told;
  for (const std::string& body :
       agent.Sent(kThird, LabelMessage::kWatermarks)) {
    const WatermarksBody watermarks = DecodeWatermarks(body).value();
    told.insert(told.end(), watermarks.digests.begin(),
                watermarks.digests.end());
  }
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].row, kFirst);
  EXPECT_THAT(told[0].versions, ElementsAre(Pair(0, Number(1).digest())));
}

TEST(Digests, AnotherIncarnationKnowsThem) {
  OneAgent agent(Chain(kPeer, kSelf, kPeer));
  agent.Receive(kPeer, LabelMessage::kPublish,
                EncodePublish(kFirst, Number(1)));
  OneAgent reborn(Chain(kSelf, kSelf, kPeer));
  reborn.Adopt(agent.run().TakeCarriedOver());
  RunNext(reborn, 2);
  ExpectConflict(reborn, "first(0)");
}

}  // namespace
}  // namespace dogged

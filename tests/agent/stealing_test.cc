// Aim: agents with room get tasks, and granted tasks that must come back do.
#include "runtime/job/tasks/stealing.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "tests/agent/one_agent.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const AgentId kFirst(1);
const AgentId kSecond(2);
constexpr absl::Time kStart = absl::UnixEpoch();
constexpr absl::Duration kSweep = absl::Milliseconds(100);

std::unique_ptr<Activation> RecordOf(int64_t index) {
  auto record = std::make_unique<Activation>();
  record->task = {.task_class = 0, .index = {index}};
  return record;
}

TEST(Stealing, RoomIsTakenTaskByTaskAndForgotten) {
  Stealing home;
  home.NoteRoom(kFirst, 2, kStart + kSweep);
  home.NoteRoom(kSecond, 1, kStart + 2 * kSweep);
  EXPECT_THAT(home.Thieves(kStart), ElementsAre(kFirst, kSecond));
  EXPECT_EQ(home.RoomCount(kStart), 3);
  home.TakeRoom(kFirst);
  EXPECT_EQ(home.RoomCount(kStart), 2);
  EXPECT_THAT(home.Thieves(kStart + kSweep), ElementsAre(kSecond));
  home.TakeRoom(kSecond);
  EXPECT_THAT(home.Thieves(kStart + kSweep), IsEmpty());
}

TEST(Stealing, WhoSaysAgainThatItHasRoomHasNoMoreThanThat) {
  Stealing home;
  home.NoteRoom(kFirst, 2, kStart + kSweep);
  home.NoteRoom(kFirst, 1, kStart + 2 * kSweep);
  home.NoteRoom(kSecond, 0, kStart + 2 * kSweep);
  EXPECT_EQ(home.RoomCount(kStart + kSweep), 1);
}

TEST(Stealing, WhatIsKnownToRunElsewhereIsGivenAsSoonAsItIsReady) {
  Stealing home;
  const auto nobody = [](AgentId) { return false; };
  home.Expect(RecordOf(1)->task, kFirst, kStart + kSweep);
  home.Expect(RecordOf(2)->task, kFirst, kStart + kSweep);
  home.Expect(RecordOf(2)->task, kFirst, kStart + 2 * kSweep);
  home.Expect(RecordOf(3)->task, kSecond, kStart + 2 * kSweep);
  home.Expect(RecordOf(4)->task, kFirst, kStart + 2 * kSweep);
  EXPECT_EQ(home.granted_count(), 0);  // none of them is here
  EXPECT_THAT(home.TakeBack(kStart + kSweep,
                            [](AgentId agent) { return agent == kSecond; }),
              IsEmpty());
  home.Remove(RecordOf(4)->task);
  EXPECT_NE(home.GrantIfExpected(RecordOf(1)), nullptr);  // silent too long
  EXPECT_NE(home.GrantIfExpected(RecordOf(3)), nullptr);  // its agent is gone
  EXPECT_NE(home.GrantIfExpected(RecordOf(4)), nullptr);  // it was made
  EXPECT_EQ(home.GrantIfExpected(RecordOf(2)), nullptr);
  EXPECT_THAT(home.Granted(), ElementsAre(RecordOf(2)->task));
  EXPECT_THAT(home.TakeBack(kStart + 2 * kSweep, nobody), SizeIs(1));
}

TEST(Stealing, WhatIsLateOrWhoseThiefHasGoneComesBack) {
  Stealing home;
  home.Grant(kFirst, kStart + kSweep, RecordOf(1));
  home.Grant(kFirst, kStart + 2 * kSweep, RecordOf(2));
  home.Grant(kSecond, kStart + 2 * kSweep, RecordOf(3));
  EXPECT_EQ(home.granted_count(), 3);
  const auto nobody = [](AgentId) { return false; };
  EXPECT_THAT(home.TakeBack(kStart, nobody), IsEmpty());
  const auto late = home.TakeBack(kStart + kSweep, nobody);
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0]->task, RecordOf(1)->task);
  home.Extend(RecordOf(2)->task, kSecond, kStart + 9 * kSweep);  // not its own
  home.Extend(RecordOf(3)->task, kSecond, kStart + 9 * kSweep);
  const auto silent = home.TakeBack(kStart + 2 * kSweep, nobody);
  ASSERT_THAT(silent, SizeIs(1));
  EXPECT_EQ(silent[0]->task, RecordOf(2)->task);
  home.Grant(kFirst, kStart + 2 * kSweep, RecordOf(2));
  const auto gone = home.TakeBack(
      kStart + kSweep, [](AgentId thief) { return thief == kSecond; });
  ASSERT_THAT(gone, SizeIs(1));
  EXPECT_EQ(gone[0]->task, RecordOf(3)->task);
  EXPECT_NE(home.Remove(RecordOf(2)->task), nullptr);
  EXPECT_EQ(home.Remove(RecordOf(2)->task), nullptr);
  EXPECT_EQ(home.granted_count(), 0);
}

TEST(Stealing, NobodyIsOverdueForATimeInWhichNobodyLooked) {
  Stealing home;
  const auto nobody = [](AgentId) { return false; };
  const absl::Duration silence = absl::Seconds(1);
  EXPECT_THAT(home.TakeBack(kStart, nobody), IsEmpty());
  home.Grant(kFirst, kStart + silence, RecordOf(1));
  home.Expect(RecordOf(2)->task, kFirst, kStart + silence);
  const absl::Time later = kStart + absl::Seconds(9);
  EXPECT_THAT(home.TakeBack(later, nobody), IsEmpty());
  EXPECT_EQ(home.GrantIfExpected(RecordOf(2)), nullptr);
  for (absl::Time t = later; t < later + silence; t += kSweep) {
    EXPECT_THAT(home.TakeBack(t, nobody), IsEmpty());
  }
  EXPECT_THAT(home.TakeBack(later + silence, nobody), SizeIs(2));
}

TEST(Stealing, IdlenessIsCountedFromWhenItBegan) {
  Stealing thief;
  EXPECT_EQ(thief.NoteIdle(kStart), absl::ZeroDuration());
  EXPECT_EQ(thief.NoteIdle(kStart + kSweep), kSweep);
  thief.NoteBusy();
  EXPECT_EQ(thief.NoteIdle(kStart + 2 * kSweep), absl::ZeroDuration());
}

TEST(Stealing, WhoWasLateIsToldApartOnce) {
  Stealing home;
  const auto nobody = [](AgentId) { return false; };
  home.Grant(kFirst, kStart, RecordOf(1));
  home.Grant(kFirst, kStart + kSweep, RecordOf(2));
  home.Grant(kSecond, kStart, RecordOf(3));
  EXPECT_THAT(home.TakeBack(kStart, nobody), SizeIs(2));
  EXPECT_FALSE(home.NoteLate(RecordOf(1)->task, kSecond)) << "not his";
  EXPECT_TRUE(home.NoteLate(RecordOf(1)->task, kFirst));
  EXPECT_FALSE(home.NoteLate(RecordOf(1)->task, kFirst)) << "told before";
  EXPECT_FALSE(home.NoteLate(RecordOf(2)->task, kFirst)) << "in time";
  home.TakeBack(kStart, [](AgentId thief) { return thief == kSecond; });
  EXPECT_FALSE(home.NoteLate(RecordOf(3)->task, kSecond)) << "gone";
}

TEST(Stealing, AVictimIsAskedOnceASweepUnlessItGives) {
  Stealing thief;
  const auto may_ask = [&](absl::Time now) {
    return thief.MayAsk(kFirst, now, now - kSweep);
  };
  EXPECT_TRUE(may_ask(kStart));
  EXPECT_FALSE(may_ask(kStart + kSweep / 2));
  EXPECT_TRUE(may_ask(kStart + kSweep));
  thief.NoteAnswer(kFirst);
  EXPECT_TRUE(may_ask(kStart + kSweep));
}

TEST(Stealing, OnlySomeAreAskedAtATime) {
  Stealing thief;
  int asked = 0;
  for (uint64_t id = 1; id <= 100; ++id) {
    asked += thief.MayAsk(AgentId(id), kStart, kStart - kSweep);
  }
  EXPECT_EQ(asked, Stealing::kAskedMax);
  EXPECT_TRUE(thief.MayAsk(AgentId(100), kStart + kSweep, kStart));
}

// The time of a first task is unknown. Until it has ended no task is queued
// behind it, and if it goes on, other agents get the waiting ones.
TEST(Stealing, WhatWaitsForAFirstTaskGoesToWhoHasRoom) {
  OneAgent agent(Leaves(kSelf, 1));
  EXPECT_EQ(agent.tasks().unfinished_count(), 1);
  agent.Receive(kPeer, JobMessage::kSteal, EncodeSteal({1}));
  EXPECT_THAT(agent.Sent(kPeer, JobMessage::kGranted), IsEmpty());
  agent.Pass(absl::Milliseconds(1));
  EXPECT_THAT(agent.Sent(kPeer, JobMessage::kGranted), SizeIs(1));
  EXPECT_THAT(agent.tasks().TakeAll(), SizeIs(1));
}

// Five readers of a megabyte wait behind one that runs and one that is next,
// 6 ms each. A megabyte takes 10 ms to a thief, behind those that went before:
// the first would wait 33 ms here, the second 27, the third 21.
TEST(Stealing, WhatBeginsHereSoonerThanItsBytesGetAwayStays) {
  OneAgent agent(AllAt(kSelf, WideRelease(8)));
  for (const bool is_root : {true, false}) {
    std::vector<ReadyTask> next = agent.tasks().TakeAll();
    ASSERT_THAT(next, SizeIs(1));
    Value made = is_root ? Value::Allocate(ElementType::kDouble, {131072})
                         : Value::Scalar(1);
    agent.Complete(std::move(next[0]), {Sealed(std::move(made))},
                   absl::OkStatus(), absl::Milliseconds(6));
    agent.Pass(absl::ZeroDuration());
  }
  EXPECT_EQ(agent.tasks().unfinished_count(), 2);
  agent.Receive(kPeer, JobMessage::kSteal, EncodeSteal({8}));
  size_t granted = 0;
  for (int pass = 0; pass < 4; ++pass) {
    granted += agent.Sent(kPeer, JobMessage::kGranted).size();
    agent.Pass(absl::ZeroDuration());
  }
  EXPECT_EQ(granted, 2u);
}

// A task waits for 9 ms here; what it would make takes longer to come back.
TEST(Stealing, OutputsHaveToComeBack) {
  for (const int64_t output_bytes : {0, 1 << 20}) {
    OneAgent agent(AllAt(kSelf, WideRelease(8)), {.replicas = 1},
                   MulticastPlan::kFlat, output_bytes);
    for (int i = 0; i < 5; ++i) {
      std::vector<ReadyTask> next = agent.tasks().TakeAll();
      for (ReadyTask& task : next) {
        agent.Complete(std::move(task), {Sealed(Value::Scalar(1))},
                       absl::OkStatus(), absl::Milliseconds(6));
      }
      agent.Pass(absl::ZeroDuration());
      if (agent.tasks().unfinished_count() == 2) break;
    }
    EXPECT_EQ(agent.tasks().unfinished_count(), 2);
    agent.Receive(kPeer, JobMessage::kSteal, EncodeSteal({8}));
    EXPECT_EQ(agent.Sent(kPeer, JobMessage::kGranted).size(),
              output_bytes == 0 ? 5u : 4u);
  }
}

// Between two tasks of its own it is idle for less than one takes.
TEST(Stealing, OtherHostsAreAskedOnceIdleForATask) {
  OneAgent agent(Chain(kSelf, kPeer, kPeer));
  std::vector<ReadyTask> first = agent.tasks().TakeAll();
  ASSERT_THAT(first, SizeIs(1));
  agent.Complete(std::move(first[0]), {Sealed(Value::Scalar(1))},
                 absl::OkStatus(), absl::Milliseconds(50));
  agent.Pass(absl::ZeroDuration());
  agent.Pass(absl::Milliseconds(49));
  EXPECT_THAT(agent.Sent(kPeer, JobMessage::kSteal), IsEmpty());
  agent.Pass(absl::Milliseconds(1));
  EXPECT_THAT(agent.Sent(kPeer, JobMessage::kSteal), SizeIs(1));
}

// Whatever holds the processors: agents of other hosts may well have some to
// spare, and a task's bytes don't come for a share of one.
TEST(Stealing, OtherHostsAreNotAskedForAShareOfAProcessor) {
  OneAgent agent(AllAt(kPeer, WideRelease(8)));
  agent.Sent(kPeer, JobMessage::kSteal);
  agent.tasks().processors = 64;
  agent.tasks().runnable_workers = 0;
  agent.Pass(absl::Milliseconds(500));
  EXPECT_THAT(agent.Sent(kPeer, JobMessage::kSteal), IsEmpty());
  agent.tasks().runnable_workers = 1;
  agent.Pass(absl::Milliseconds(200));
  EXPECT_THAT(agent.Sent(kPeer, JobMessage::kSteal), SizeIs(1));
}

// Within a host a task costs no bytes: a worker is room whatever runs beside
// it, unless the host's agents have more of them than processors.
TEST(Stealing, AgentsOfTheHostAreAskedIfEachWorkerHasAProcessor) {
  for (const int processors : {2, 3}) {
    OneAgent agent(AllAt(kPeer, WideRelease(8)));
    agent.ShareHost();
    agent.tasks().processors = processors;
    agent.tasks().runnable_workers = 0;
    agent.Sent(kPeer, JobMessage::kSteal);
    agent.Pass(absl::Milliseconds(500));
    EXPECT_EQ(agent.Sent(kPeer, JobMessage::kSteal).size(),
              processors == 3 ? 1u : 0u);
  }
}

}  // namespace
}  // namespace dogged

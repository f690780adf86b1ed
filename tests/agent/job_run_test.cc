// Aim: an agent's reaction to a single message, which a whole cluster would
// hide: later messages mend a mistake about an earlier one. Method: one agent's
// part in a job; its peers are the messages that the test writes and reads.
#include "runtime/job/job_run.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/agent/one_agent.h"
#include "tests/kvstore/published.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(JobRun, DropsALabelOnceEveryOneOfItsConsumersWasReported) {
  for (const int64_t width : {3, 1000}) {
    SCOPED_TRACE(width);
    OneAgent agent(Fan(width));
    std::vector<ReadyTask> tasks = agent.tasks().TakeAll();
    ASSERT_THAT(tasks, SizeIs(1));
    agent.Complete(std::move(tasks[0]), {Sealed(Value::Scalar(1))});
    EXPECT_EQ(agent.run().held_count(), 1);
    const Label root{.array = 0};
    const auto report = [&](int64_t i) {
      agent.Receive(
          kPeer, LabelMessage::kDone,
          EncodeDone(
              {.label = root, .reader = Task{.task_class = 1, .index = {i}}}));
    };
    for (int64_t i = 0; i + 1 < width; ++i) report(i);
    report(0);  // one that came twice
    agent.Pass(absl::Seconds(1));
    EXPECT_EQ(agent.run().held_count(), 1);
    report(width - 1);
    agent.Pass(absl::Seconds(1));
    EXPECT_EQ(agent.run().held_count(), 0);
  }
}

// A task that was on a worker when an earlier run of this job ended says
// nothing of this run: no failure, no value, and the task may run again.
TEST(JobRun, TakesNoNoticeOfATaskThatWasInterrupted) {
  OneAgent agent(Fan(1));
  std::vector<ReadyTask> tasks = agent.tasks().TakeAll();
  ASSERT_THAT(tasks, SizeIs(1));
  const Task start = tasks[0].task;
  agent.Complete(std::move(tasks[0]), {}, absl::CancelledError("ended"));
  EXPECT_TRUE(agent.run().failure().ok()) << agent.run().failure().ToString();
  EXPECT_EQ(agent.run().stats().tasks_executed, 0);
  EXPECT_EQ(agent.run().held_count(), 0);
  agent.Receive(
      kPeer, LabelMessage::kDemand,
      EncodeDemand({.label = {.array = 0}, .kind = DemandKind::kCertain}));
  tasks = agent.tasks().TakeAll();
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].task, start);
}

// 10^12 leaves, and none is its own: messages have their turn all the same.
TEST(JobRun, LooksAtSomeLeavesAtATime) {
  constexpr int64_t kLast = 1'000'000'000'000;
  OneAgent agent(Leaves(kPeer, kLast, /*first_result=*/kLast));
  EXPECT_TRUE(agent.tasks().TakeAll().empty());
}

TEST(JobRun, StartsLeavesBesideAJobThatFillsTheExecutor) {
  OneAgent agent(Leaves(kSelf, 999));
  std::vector<ReadyTask> tasks = agent.tasks().TakeAll();
  agent.tasks().others = 100'000;
  agent.Complete(std::move(tasks.at(0)), {Sealed(Value::Scalar(1))});
  agent.Pass(absl::ZeroDuration());
  EXPECT_THAT(agent.tasks().TakeAll(), testing::Not(IsEmpty()));
}

// x is the peer's, y and go this agent's: y(t) needs x(t-1), go(t) says whether
// the loop ends after round t.
Program Loop() {
  ProgramBuilder b("loop");
  const AffineExpr t = AffineExpr::Index(0);
  const AffineExpr one = AffineExpr::Constant(1);
  const int32_t x = AddRow(b, "x", kPeer);
  const int32_t y = AddRow(b, "y", kSelf);
  const int32_t add = b.AddKernel({"add", "test", ""});
  b.AddClass({.name = "first",
              .creates = {{x, {AffineExpr::Constant(0)}}},
              .kernel = add});
  b.AddClass({.name = "x",
              .domain = Domain::Box({{"t", 1, 4}}),
              .creates = {{x, {t}}},
              .uses = {{x, {t - one}, {}}},
              .kernel = add});
  b.AddClass({.name = "y",
              .domain = Domain::Box({{"t", 1, 4}}),
              .creates = {{y, {t}}},
              .uses = {{x, {t - one}, {}}},
              .kernel = add});
  const int32_t go = b.AddArray({.name = "go",
                                 .rank = 1,
                                 .element = ElementType::kInt64,
                                 .affinity_block = {0},
                                 .affinity_group = OneAgent::GroupAt(kSelf)});
  b.AddClass({.name = "ask",
              .domain = Domain::Box({{"t", 1, 4}}),
              .creates = {{go, {t}}},
              .uses = {{x, {t}, {}}},
              .kernel = add});
  b.AddResult(y, Domain::Box({{"t", 1, 4}}));
  b.SetEveryTaskNeeded();
  Program program = std::move(b).Build().value();
  const AffineExpr never = AffineExpr::Constant(0);
  program.repeat = Repeat{.parameter = "T",
                          .first = 1,
                          .last = 4,
                          .step = 1,
                          .array = go,
                          .class_time = {never, t, t, t},
                          .result_time = {{.time = t, .is_exact = true}}};
  return program;
}

Value Verdict(int64_t value) {
  Value out = Value::Allocate(ElementType::kInt64, {});
  out.mutable_span<int64_t>()[0] = value;
  return Sealed(std::move(out));
}

TEST(JobRun, AsksForNoInputOfATaskThatWaitsForItsRound) {
  OneAgent agent(Loop());
  const Label x1{.array = 0, .index = {1}};
  const Value value = Sealed(Value::Scalar(1));
  agent.Receive(kPeer, LabelMessage::kPublish, EncodePublish(x1, value));
  std::vector<ReadyTask> tasks = agent.tasks().TakeAll();
  ASSERT_THAT(tasks, SizeIs(1)) << "y(2) is of a round that may not exist";
  EXPECT_EQ(tasks[0].task, (Task{.task_class = 3, .index = {1}}));
  agent.Complete(std::move(tasks[0]), {Verdict(0)});
  agent.Sent(kPeer, LabelMessage::kDemand);
  for (int i = 0; i < 3; ++i) {
    agent.Receive(kPeer, LabelMessage::kAnnounce,
                  EncodeAnnounce({x1, value.digest()}));
    EXPECT_THAT(agent.Sent(kPeer, LabelMessage::kDemand), IsEmpty());
  }
  agent.Pass(absl::ZeroDuration());
  tasks = agent.tasks().TakeAll();
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].task, (Task{.task_class = 2, .index = {2}}));
}

TEST(JobRun, LearnsFromAConditionOnDiskThatARoundExists) {
  OneAgent agent(Loop());
  agent.Receive(
      kPeer, LabelMessage::kPublish,
      EncodePublish({.array = 0, .index = {1}}, Sealed(Value::Scalar(1))));
  EXPECT_EQ(agent.run().rounds().round(), 0);
  agent.OnDisk({.kind = ValueStore::Event::Kind::kFound,
                .label = {.array = 2, .index = {1}},
                .value = Verdict(0)});
  agent.Pass(absl::ZeroDuration());
  EXPECT_EQ(agent.run().rounds().round(), 1);
}

// A task for each step with two outputs: a, for which it runs, at home here,
// and b at the peer's. It needs the step's x, of the third agent.
Program TwoOutputs() {
  ProgramBuilder b("two");
  const AffineExpr t = AffineExpr::Index(0);
  const int32_t a = AddRow(b, "a", kSelf);
  const int32_t second = AddRow(b, "b", kPeer);
  const int32_t x = AddRow(b, "x", kThird);
  const int32_t add = b.AddKernel({"add", "test", ""});
  b.AddClass({.name = "make",
              .domain = Domain::Box({{"t", 0, 99}}),
              .creates = {{x, {t}}},
              .kernel = add});
  b.AddClass({.name = "step",
              .domain = Domain::Box({{"t", 0, 99}}),
              .creates = {{a, {t}}, {second, {t}}},
              .uses = {{x, {t}, {}}},
              .kernel = add});
  b.AddResult(second, Domain::Box({{"t", 0, 99}}));
  b.AddResult(a, Domain::Box({{"t", 0, 99}}));
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

TEST(JobRun, LooksForTheFrontierOfARowOnlyWhereTheRowIsKept) {
  OneAgent agent(TwoOutputs());
  // The news of a row of the peer are old.
  agent.Receive(kPeer, LabelMessage::kWatermarks,
                EncodeWatermarks({.done = {{{.array = 1, .index = {0}}, 3}}}));
  agent.Sent(kThird, LabelMessage::kDemand);
  agent.Receive(kPeer, LabelMessage::kDemand,
                EncodeDemand({.label = {.array = 1, .index = {50}}}));
  std::vector<Label> asked;
  for (const DemandBody& demand : agent.Demanded(kThird)) {
    asked.push_back(demand.label);
  }
  EXPECT_THAT(asked, ElementsAre(Label{.array = 2, .index = {50}}));
}

// A demand to an agent that had not begun was lost; the next one would be
// seconds later.
TEST(JobRun, AsksAgainWhoHasJustStarted) {
  OneAgent agent(TwoOutputs());
  const auto asked = [&] {
    return agent.Sent(kThird, LabelMessage::kDemand).size();
  };
  agent.Want({.array = 2, .index = {50}});  // at home at the third
  for (int i = 0; i < 100; ++i) agent.Pass(absl::Milliseconds(100));
  EXPECT_GT(asked(), 1u);
  agent.Pass(absl::Milliseconds(100));
  EXPECT_EQ(asked(), 0u);  // it asks ever more seldom
  agent.Receive(kThird, LabelMessage::kStarted, {});
  agent.Pass(absl::ZeroDuration());
  EXPECT_GT(asked(), 0u);
}

// y(t) needs a(t), which is at home here, and x(t) of the third agent.
Program TwoInputs() {
  ProgramBuilder b("inputs");
  const AffineExpr t = AffineExpr::Index(0);
  const Domain steps = Domain::Box({{"t", 0, 9}});
  const int32_t a = AddRow(b, "a", kSelf);
  const int32_t x = AddRow(b, "x", kThird);
  const int32_t y = AddRow(b, "y", kSelf);
  const int32_t add = b.AddKernel({"add", "test", ""});
  b.AddClass(
      {.name = "x", .domain = steps, .creates = {{x, {t}}}, .kernel = add});
  b.AddClass({.name = "a",
              .domain = steps,
              .creates = {{a, {t}}},
              .uses = {{x, {t}, {}}},
              .kernel = add});
  b.AddClass({.name = "y",
              .domain = steps,
              .creates = {{y, {t}}},
              .uses = {{x, {t}, {}}, {a, {t}, {}}},
              .kernel = add});
  b.AddResult(y, steps);
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

// A guess ends at what was dropped: that task was done. If it asked for the
// others all the same, then each of many paths to it would.
TEST(JobRun, LooksForNothingOnBehalfOfWhatWasDone) {
  OneAgent agent(TwoInputs());
  agent.Receive(
      kPeer, LabelMessage::kWatermarks,
      EncodeWatermarks({.retired = {{{.array = 0, .index = {0}}, 5}}}));
  const auto demand_y = [&](int64_t step, bool certain) {
    agent.Receive(kPeer, LabelMessage::kDemand,
                  EncodeDemand({.label = {.array = 2, .index = {step}},
                                .depth = 1,
                                .kind = GuessOrCertain(certain)}));
    return agent.Demanded(kThird).size();
  };
  EXPECT_EQ(demand_y(6, false), 2) << "for y(6), and for a(6)";
  EXPECT_EQ(demand_y(4, false), 0) << "a(4) was dropped";
  EXPECT_EQ(demand_y(4, true), 2) << "for y(4), and to make a(4) again";
}

// The first task may take hours, and tasks that wait at the executor cannot be
// granted.
TEST(JobRun, QueuesNothingBehindATaskWhoseLikeHasNeverEnded) {
  OneAgent agent(Leaves(kSelf, 20));
  std::vector<ReadyTask> tasks = agent.tasks().TakeAll();
  ASSERT_THAT(tasks, SizeIs(1));
  for (int i = 0; i < 3; ++i) agent.Pass(absl::Milliseconds(1));
  EXPECT_THAT(agent.tasks().TakeAll(), IsEmpty());
  agent.Complete(std::move(tasks[0]), {Sealed(Value::Scalar(1))},
                 absl::OkStatus(), absl::Microseconds(10));
  agent.Pass(absl::ZeroDuration());
  EXPECT_THAT(agent.tasks().TakeAll(), SizeIs(testing::Gt(5u)));
}

// An idle worker of a host whose processors are taken is no room.
TEST(JobRun, AsksForTasksWhereAProcessorIsIdle) {
  OneAgent agent(AllAt(kPeer, WideRelease(8)));
  agent.tasks().runnable_workers = 0;
  agent.Sent(kPeer, JobMessage::kSteal);
  agent.Pass(absl::Milliseconds(500));
  EXPECT_THAT(agent.Sent(kPeer, JobMessage::kSteal), IsEmpty());
  agent.tasks().runnable_workers = 1;
  agent.Pass(absl::Milliseconds(200));
  EXPECT_THAT(agent.Sent(kPeer, JobMessage::kSteal), SizeIs(1));
  // An agent that is idle for long asks for a task, however busy the processors
  // are.
  agent.tasks().runnable_workers = 0;
  agent.Pass(absl::Milliseconds(200));
  EXPECT_THAT(agent.Sent(kPeer, JobMessage::kSteal), IsEmpty());
  agent.Pass(absl::Seconds(1));
  const std::vector<std::string> asked = agent.Sent(kPeer, JobMessage::kSteal);
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(DecodeSteal(asked[0])->count, 1);
}

// A thief that was stopped runs its task after all: its home has run it too,
// and says so, for the thief can't know.
TEST(JobRun, CountsWhatALateThiefRanAsADuplicate) {
  OneAgent agent(AllAt(kSelf, WideRelease(8)));
  const auto run_all = [&agent] {
    std::vector<Task> ran;
    for (ReadyTask& task : agent.tasks().TakeAll()) {
      ran.push_back(task.task);
      agent.Complete(std::move(task), {Sealed(Value::Scalar(1))},
                     absl::OkStatus(), absl::Milliseconds(50));
    }
    return ran;
  };
  ASSERT_THAT(run_all(), SizeIs(1));
  agent.Sent(kPeer, JobMessage::kGranted);
  agent.Receive(kPeer, JobMessage::kSteal, EncodeSteal({1}));
  const std::vector<std::string> grants =
      agent.Sent(kPeer, JobMessage::kGranted);
  ASSERT_THAT(grants, SizeIs(1));
  const ClaimBody grant = DecodeClaim(grants[0]).value();
  for (int i = 0; i < 20; ++i) agent.Pass(absl::Milliseconds(100));
  bool is_back = false;
  for (int i = 0; i < 10; ++i) {
    for (const Task& task : run_all()) is_back |= task == grant.task;
    agent.Pass(absl::ZeroDuration());
  }
  EXPECT_TRUE(is_back);
  EXPECT_EQ(agent.run().stats().tasks_duplicated, 0);
  for (int times = 0; times < 2; ++times) {
    agent.Receive(kPeer, LabelMessage::kPublish,
                  EncodePublish(grant.wanted, Sealed(Value::Scalar(1))));
    EXPECT_EQ(agent.run().stats().tasks_duplicated, 1);
  }
}

TEST(JobRun, ReleasesAClaimForWhicheverOutputCame) {
  for (const int32_t array : {0, 1}) {
    SCOPED_TRACE(array);
    Program program = TwoOutputs();
    program.arrays[1].affinity_group = program.arrays[0].affinity_group;
    OneAgent agent(std::move(program), {.replicas = 1, .search_only = true});
    const Task step{.task_class = 1, .index = {5}};
    const auto claims = [&](AgentId who, const Label& wanted) {
      agent.Receive(who, JobMessage::kClaim, EncodeClaim({step, wanted}));
      const auto answers = agent.Sent(who, JobMessage::kClaimed);
      return answers.size() == 1 && DecodeClaim(answers[0]).value().granted;
    };
    const Label wanted{.array = 1 - array, .index = {5}};
    const Label bound{.array = array, .index = {5}};
    EXPECT_TRUE(claims(kPeer, bound));
    EXPECT_FALSE(claims(kThird, wanted));
    agent.Receive(kPeer, LabelMessage::kPublish,
                  EncodePublish(bound, Sealed(Value::Scalar(1))));
    EXPECT_TRUE(claims(kThird, wanted)) << "who had it is through";
  }
}

// Rows at home at the peer, of which this agent has copies.
Program Rows() {
  ProgramBuilder b("rows");
  const AffineExpr t = AffineExpr::Index(0);
  const int32_t x = AddRow(b, "x", kPeer);
  b.AddClass({.name = "x",
              .domain = Domain::Box({{"t", 0, 999}}),
              .creates = {{x, {t}}},
              .kernel = b.AddKernel({"add", "test", ""})});
  b.AddResult(x, Domain::Box({{"t", 0, 999}}));
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

Label RowAt(int64_t t) { return {.array = 0, .index = {t}}; }

Bytes CopyOf(int64_t t) {
  return EncodePublish(RowAt(t), Value::Scalar(static_cast<double>(t)));
}

TEST(JobRun, CopiesOfManyLabelsAreFewMessages) {
  OneAgent agent(AllAt(kSelf, Rows()), {.replicas = 2});
  int64_t made = 0;
  int64_t messages = 0;
  int64_t labels = 0;
  const auto pass = [&](absl::Duration time) {
    agent.Pass(time);
    for (const auto& [to, bodies] : agent.AllSent(LabelMessage::kPublish)) {
      ++messages;
      labels += std::ssize(DecodePublished(bodies).value());
    }
  };
  for (auto tasks = agent.tasks().TakeAll(); !tasks.empty();
       tasks = agent.tasks().TakeAll()) {
    for (ReadyTask& task : tasks) {
      agent.Complete(std::move(task), {Sealed(Value::Scalar(1))});
      ++made;
    }
    pass(absl::ZeroDuration());
  }
  EXPECT_EQ(made, 1000);
  for (int i = 0; i < 4; ++i) pass(absl::Milliseconds(20));
  EXPECT_EQ(labels, 1000);
  EXPECT_LT(messages, 50);
}

TEST(JobRun, CopiesThatComeTogetherAreAcknowledgedTogether) {
  OneAgent agent(Rows(), {.replicas = 3});
  agent.Receive(kPeer, LabelMessage::kPublish,
                Joined({CopyOf(1), CopyOf(2), CopyOf(3)}));
  EXPECT_EQ(agent.run().held_count(), 3);
  const Bytes stored =
      Joined({EncodeAnnounce({RowAt(1), Value::Scalar(1).digest()}),
              EncodeAnnounce({RowAt(2), Value::Scalar(2).digest()}),
              EncodeAnnounce({RowAt(3), Value::Scalar(3).digest()})});
  EXPECT_THAT(agent.Sent(kPeer, LabelMessage::kStored),
              ElementsAre(std::string(stored.view())));
  // A batch may come again, and overlap with another one.
  agent.Receive(kPeer, LabelMessage::kPublish, Joined({CopyOf(3), CopyOf(4)}));
  EXPECT_EQ(agent.run().held_count(), 4);
  agent.Receive(kPeer, LabelMessage::kRetired,
                Joined({EncodeRetired({.label = RowAt(1)}),
                        EncodeRetired({.label = RowAt(4)}),
                        EncodeRetired({.label = RowAt(9)})}));
  EXPECT_EQ(agent.run().held_count(), 2);
}

TEST(JobRun, ABulkIsLimited) {
  OneAgent agent(Rows(), {.replicas = 3});
  for (int64_t t = 0; t < 1000; ++t) {
    ASSERT_TRUE(
        agent.TryReceive(kPeer, LabelMessage::kPublish, CopyOf(t).view()).ok());
  }
  const std::vector<std::string> stored =
      agent.Sent(kPeer, LabelMessage::kStored);
  int64_t labels = 0;
  for (const std::string& bodies : stored) {
    EXPECT_LE(bodies.size(), JobLimits{}.batch_bytes_max);
    labels += std::ssize(DecodeAnnounce(bodies).value());
  }
  EXPECT_EQ(labels, 1000);
  EXPECT_LT(stored.size(), 40);
}

// A batch with a label that the job does not have, or a value that differs from
// its digest, or that is cut, counts for nothing.
TEST(JobRun, ABulkCountsAsAWholeOrNotAtAll) {
  OneAgent agent(Rows(), {.replicas = 3});
  const Bytes stranger =
      EncodePublish({.array = 7, .index = {1}}, Value::Scalar(1));
  const auto refused = [&](const Bytes& bodies) {
    return agent.TryReceive(kPeer, LabelMessage::kPublish, bodies.view())
        .code();
  };
  EXPECT_EQ(refused(Joined({CopyOf(1), stranger})),
            absl::StatusCode::kInvalidArgument);
  std::string wrong(Joined({CopyOf(1), CopyOf(2)}).view());
  wrong.back() ^= 1;
  EXPECT_EQ(refused(Bytes(wrong)), absl::StatusCode::kDataLoss);
  const Bytes both = Joined({CopyOf(1), CopyOf(2)});
  for (int64_t size = CopyOf(1).size() + 1; size < both.size(); ++size) {
    EXPECT_EQ(refused(both.Slice(0, size)), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(agent.run().held_count(), 0);
  EXPECT_THAT(agent.Sent(kPeer, LabelMessage::kStored), IsEmpty());
  EXPECT_TRUE(agent.run().failure().ok()) << agent.run().failure().ToString();
}

// Whatever comes: no crash, and no end of the job but for two values of one
// label, of which bytes at random make some.
TEST(JobRun, SurvivesGarbage) {
  Rng rng(1);
  const Task task{.task_class = 0, .index = {1}};
  const std::vector<Bytes> bodies = {
      Joined({CopyOf(1), CopyOf(2)}),
      Joined({EncodeAnnounce({RowAt(1), Value::Scalar(1).digest()}),
              EncodeAnnounce({RowAt(2), Value::Scalar(2).digest()})}),
      Joined({EncodeDemand({.label = RowAt(1), .reader = task}),
              EncodeDemand({.label = RowAt(2), .kind = DemandKind::kFetch})}),
      Joined({EncodeDone({.label = RowAt(1), .reader = task}),
              EncodeDone({.label = RowAt(2), .reader = task})}),
      Joined({EncodeRetired({.label = RowAt(1)}),
              EncodeRetired({.label = RowAt(2), .reader = task})}),
  };
  for (int round = 0; round < 200; ++round) {
    OneAgent agent(Rows(), {.replicas = 3});
    agent.Receive(kPeer, LabelMessage::kPublish, CopyOf(1));
    for (int i = 0; i < 20; ++i) {
      std::string body(rng.Pick(bodies).view());
      for (int64_t flips = rng.Below(4); flips > 0; --flips) {
        const auto at = static_cast<size_t>(rng.Below(std::ssize(body)));
        body[at] = static_cast<char>(rng.Below(256));
      }
      if (rng.Chance(0.3)) {
        body.resize(rng.Below(std::ssize(body) + 1));
      }
      const auto kind = static_cast<JobMessage>(
          static_cast<int>(LabelMessage::kPublish) + rng.Below(6));
      (void)agent.TryReceive(rng.Chance(0.5) ? kPeer : kThird, kind, body);
    }
    agent.Pass(absl::Seconds(1));
    EXPECT_TRUE(agent.run().failure().ok() ||
                absl::IsDataLoss(agent.run().failure()));
  }
}

}  // namespace
}  // namespace dogged

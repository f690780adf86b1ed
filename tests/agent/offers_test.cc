// Aim: after all agents were lost, labels of their directories are not made
// again while they may still be on their way, and where a label is gone, the
// labels that it is made of stay. Method: one agent's part in a job; the test
// plays its disk and its peers.
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/job/job_run.h"
#include "tests/agent/one_agent.h"

namespace dogged {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

using Kind = ValueStore::Event::Kind;

constexpr int64_t kLast = 9;

// A step makes core(t) and edge(t) of core(t-1), all at home here; the peer
// uses the edges.
Program Steps() {
  ProgramBuilder b("steps");
  const AffineExpr t = AffineExpr::Index(0);
  const int32_t core = AddRow(b, "core", kSelf);
  const int32_t edge = AddRow(b, "edge", kSelf);
  const int32_t out = AddRow(b, "out", kPeer);
  const int32_t add = b.AddKernel({"add", "test", ""});
  b.AddClass({.name = "first",
              .domain = Domain::Box({{"t", 0, 0}}),
              .creates = {{core, {t}}, {edge, {t}}},
              .kernel = add});
  b.AddClass({.name = "step",
              .domain = Domain::Box({{"t", 1, kLast}}),
              .creates = {{core, {t}}, {edge, {t}}},
              .uses = {{core, {AffineExpr::Index(0, -1)}, {}}},
              .kernel = add});
  b.AddClass({.name = "use",
              .domain = Domain::Box({{"t", 0, kLast}}),
              .creates = {{out, {t}}},
              .uses = {{edge, {t}, {}}},
              .kernel = add});
  b.AddResult(out, Domain::Box({{"t", 0, kLast}}));
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

Label Core(int64_t t) { return {.array = 0, .index = {t}}; }
Label Edge(int64_t t) { return {.array = 1, .index = {t}}; }
const Task kFirst{.task_class = 0, .index = {0}};
Task Step(int64_t t) { return {.task_class = 1, .index = {t}}; }
const Task kUse{.task_class = 2, .index = {1}};

// sum(t), at home here, is made of left(t) of the peer and right(t) of the
// third agent.
Program Sums() {
  ProgramBuilder b("sums");
  const AffineExpr t = AffineExpr::Index(0);
  const Domain all = Domain::Box({{"t", 0, kLast}});
  const int32_t left = AddRow(b, "left", kPeer);
  const int32_t right = AddRow(b, "right", kThird);
  const int32_t sum = AddRow(b, "sum", kSelf);
  const int32_t add = b.AddKernel({"add", "test", ""});
  for (const int32_t leaf : {left, right}) {
    b.AddClass({.name = "leaf",
                .domain = all,
                .creates = {{leaf, {t}}},
                .kernel = add});
  }
  b.AddClass({.name = "sum",
              .domain = all,
              .creates = {{sum, {t}}},
              .uses = {{left, {t}, {}}, {right, {t}, {}}},
              .kernel = add});
  b.AddResult(sum, all);
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

Label Left(int64_t t) { return {.array = 0, .index = {t}}; }
Label Right(int64_t t) { return {.array = 1, .index = {t}}; }
Label Sum(int64_t t) { return {.array = 2, .index = {t}}; }

// A program in which the consumer of row(kLast) is at home here, whatever the
// row's home.
Program RowThenEnd(AgentId row_home) {
  ProgramBuilder b("row_then_end");
  const AffineExpr t = AffineExpr::Index(0);
  const int32_t row = AddRow(b, "row", row_home);
  const int32_t end = AddRow(b, "end", kSelf);
  const int32_t add = b.AddKernel({"add", "test", ""});
  b.AddClass({.name = "first",
              .domain = Domain::Box({{"t", 0, 0}}),
              .creates = {{row, {t}}},
              .kernel = add});
  b.AddClass({.name = "step",
              .domain = Domain::Box({{"t", 1, kLast}}),
              .creates = {{row, {t}}},
              .uses = {{row, {AffineExpr::Index(0, -1)}, {}}},
              .kernel = add});
  b.AddClass({.name = "end",
              .domain = Domain::Box({{"t", kLast, kLast}}),
              .creates = {{end, {t}}},
              .uses = {{row, {t}, {}}},
              .kernel = add});
  b.AddResult(end, Domain::Box({{"t", kLast, kLast}}));
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

const Label kEnd{.array = 1, .index = {kLast}};

Value One() { return Sealed(Value::Scalar(1)); }

Bytes DemandFor(const Label& label, const Task& task) {
  return EncodeDemand({.label = label, .reader = task, .depth = 1});
}

void Find(OneAgent& agent, const Label& label) {
  agent.OnDisk({.kind = Kind::kFound, .label = label, .value = One()});
}

// All others have nothing, and this agent has found `labels`: more may come.
void ReadDisk(OneAgent& agent, std::initializer_list<Label> labels) {
  for (const Label& label : labels) Find(agent, label);
  agent.OnDisk({.kind = Kind::kScanned});
}

// Whatever is ready here, and what follows from it.
std::vector<Task> RunAll(OneAgent& agent) {
  std::vector<Task> out;
  while (true) {
    agent.Pass(absl::ZeroDuration());
    std::vector<ReadyTask> tasks = agent.tasks().TakeAll();
    if (tasks.empty()) return out;
    for (ReadyTask& task : tasks) {
      out.push_back(task.task);
      agent.Complete(std::move(task), {One(), One()});
    }
  }
}

// A task may have one output written and another not.
TEST(Offers, WhatALostOutputIsMadeOfStays) {
  OneAgent agent(Steps());
  ReadDisk(agent, {Edge(5)});
  for (const Label& label : {Core(1), Core(2), Edge(2)}) {
    agent.Receive(kThird, LabelMessage::kPublish, EncodePublish(label, One()));
  }
  agent.Pass(absl::Seconds(2));
  EXPECT_THAT(RunAll(agent), Contains(kFirst));
  agent.Receive(kPeer, LabelMessage::kDemand, DemandFor(Edge(1), kUse));
  EXPECT_THAT(RunAll(agent), ElementsAre(Step(1)));
}

// The output that is there may be needed and on disk; the other is not.
TEST(Offers, ATaskIsNotDoneBecauseOneOfItsOutputsIsThere) {
  OneAgent agent(Steps());
  ReadDisk(agent, {Edge(5)});
  for (const Label& label : {Edge(2), Core(1)}) {
    agent.Receive(kThird, LabelMessage::kPublish, EncodePublish(label, One()));
  }
  agent.Pass(absl::Seconds(2));
  std::vector<ReadyTask> tasks = agent.tasks().TakeAll();
  ASSERT_EQ(tasks[0].task, kFirst);
  const int64_t before = agent.run().held_count();
  agent.Complete(std::move(tasks[0]), {One(), One()});
  EXPECT_EQ(agent.run().held_count(), before + 2);
}

// A task that waits for long demands its missing inputs, but not while
// announced labels come.
TEST(Offers, NothingIsDemandedWhileTheyCome) {
  OneAgent agent(Sums());
  ReadDisk(agent, {Sum(5)});
  agent.Receive(kThird, LabelMessage::kPublish, EncodePublish(Right(7), One()));
  for (int64_t t = 0; t < 5; ++t) {
    agent.Receive(kThird, LabelMessage::kAnnounce,
                  EncodeAnnounce({Sum(t), One().digest()}));
  }
  agent.AllSent(LabelMessage::kDemand);
  for (int64_t t = 0; t < 5; ++t) {
    for (int i = 0; i < 2; ++i) agent.Pass(absl::Milliseconds(100));
    EXPECT_THAT(agent.Demanded(kPeer), IsEmpty());
    agent.Receive(kThird, LabelMessage::kPublish, EncodePublish(Sum(t), One()));
  }
  for (int i = 0; i < 5; ++i) agent.Pass(absl::Milliseconds(100));
  EXPECT_THAT(agent.Demanded(kPeer),
              Contains(Field(&DemandBody::label, Left(7))));
}

// For a factored tile the updates of all steps would be run again.
TEST(Offers, ARowThatEndedInWhatWasFoundIsNotMadeAgain) {
  OneAgent agent(RowThenEnd(kSelf));
  ReadDisk(agent, {kEnd});
  agent.Pass(absl::Seconds(2));
  EXPECT_THAT(RunAll(agent), ElementsAre(kFirst));  // it had begun before
}

TEST(Offers, TheHomeOfARowThatEndedInWhatWasFoundHearsOfIt) {
  OneAgent agent(RowThenEnd(kPeer));
  ReadDisk(agent, {kEnd});
  const std::vector<std::string> watermarks =
      agent.Sent(kPeer, LabelMessage::kWatermarks);
  ASSERT_EQ(watermarks.size(), 1u);
  EXPECT_THAT(
      DecodeWatermarks(watermarks[0]).value().done,
      ElementsAre(testing::Pair(Label{.array = 0, .index = {0}}, kLast)));
}

// New labels were not announced.
TEST(Offers, AJobThatMovesOffersNothing) {
  OneAgent agent(Sums());
  ReadDisk(agent, {Sum(5)});
  for (int64_t t = 6; t < kLast; ++t) {
    agent.Receive(kThird, LabelMessage::kPublish,
                  EncodePublish(Right(t), One()));
    for (int i = 0; i < 2; ++i) agent.Pass(absl::Milliseconds(100));
  }
  EXPECT_THAT(agent.Demanded(kPeer),
              Contains(Field(&DemandBody::label, Left(6))));
}

}  // namespace
}  // namespace dogged

// Aim: where a whole job waits for its first tasks, guesses about missing
// labels don't grow with the job. Method: one agent's part in a job, and
// messages by hand.
#include <set>
#include <utility>

#include "gmock/gmock.h"
#include "runtime/job/job_run.h"
#include "tests/agent/one_agent.h"

namespace dogged {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kSteps = 6000;

// y(t) is made here of x(t) of the peer and a(t) of the third agent.
Program TwoSources() {
  ProgramBuilder b("sources");
  const AffineExpr t = AffineExpr::Index(0);
  const Domain steps = Domain::Box({{"t", 0, kSteps - 1}});
  const int32_t add = b.AddKernel({"add", "test", ""});
  const auto row = [&](const char* name, AgentId home) {
    return b.AddArray({.name = name,
                       .rank = 1,
                       .affinity_block = {0},
                       .affinity_group = OneAgent::GroupAt(home)});
  };
  const int32_t a = row("a", kThird);
  const int32_t x = row("x", kPeer);
  const int32_t y = row("y", kSelf);
  for (const int32_t leaf : {a, x}) {
    b.AddClass({.name = "leaf",
                .domain = steps,
                .creates = {{leaf, {t}}},
                .kernel = add});
  }
  b.AddClass({.name = "y",
              .domain = steps,
              .creates = {{y, {t}}},
              .uses = {{x, {t}, {}}, {a, {t}, {}}},
              .kernel = add});
  b.AddResult(y, steps);
  b.SetEveryTaskNeeded();
  return std::move(b).Build().value();
}

Bytes DemandForY(int64_t step, bool certain) {
  return EncodeDemand({.label = {.array = 2, .index = {step}},
                       .depth = 1,
                       .kind = GuessOrCertain(certain)});
}

void HearOfA(OneAgent& agent, int64_t step) {
  agent.Receive(
      kThird, LabelMessage::kPublish,
      EncodePublish({.array = 0, .index = {step}}, Sealed(Value::Scalar(1))));
}

// Else a demand for the last task of a wavefront would go through all of it.
TEST(Overdue, AGuessEndsAtATaskThatWaits) {
  OneAgent agent(TwoSources());
  HearOfA(agent, 7);
  agent.Demanded(kPeer);
  const auto demand = [&](int64_t step, bool certain) {
    agent.Receive(kPeer, LabelMessage::kDemand, DemandForY(step, certain));
    return agent.Demanded(kPeer);
  };
  EXPECT_THAT(demand(7, false), IsEmpty());
  EXPECT_THAT(demand(8, false), SizeIs(1)) << "nothing else sees to it";
  EXPECT_THAT(demand(7, true), SizeIs(1));
}

// The agent that was asked may have died, with all demands that waited there.
TEST(Overdue, WhatIsMissedIsDemandedAgain) {
  OneAgent agent(TwoSources());
  HearOfA(agent, 7);
  const Label missed{.array = 1, .index = {7}};
  int asked = 0;
  for (int i = 0; i < 300; ++i) {
    agent.Pass(absl::Milliseconds(100));
    for (const DemandBody& demand : agent.Demanded(kPeer)) {
      asked += demand.label == missed ? 1 : 0;
    }
  }
  EXPECT_GT(asked, 5);
  EXPECT_LT(asked, 30) << "with back-off";
}

TEST(Overdue, SomeOfWhatWaitsIsPursuedAtATime) {
  OneAgent agent(TwoSources());
  for (int64_t step = 0; step < kSteps; ++step) HearOfA(agent, step);
  agent.Demanded(kPeer);
  std::set<Label> demanded;
  const auto pass = [&](int sweeps) {
    while (sweeps-- > 0) {
      agent.Pass(absl::Milliseconds(100));
      for (const DemandBody& demand : agent.Demanded(kPeer)) {
        demanded.insert(demand.label);
      }
    }
  };
  pass(50);
  EXPECT_GT(demanded.size(), 1000u);
  EXPECT_LT(demanded.size(), 5000u);
  pass(1000);
  EXPECT_EQ(demanded.size(), size_t{kSteps}) << "each has its turn";
}

}  // namespace
}  // namespace dogged

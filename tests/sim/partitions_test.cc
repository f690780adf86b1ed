// Aim: living badly is as safe as dying: agents that are cut off, in whatever
// way and for however long, hold no job up, end nobody, and all are of one view
// again soon after the network is whole. Method: whole clusters in one thread,
// many seeds, with cuts and stops of up to ten minutes; each process knows only
// addresses, as a real one does.
#include "gmock/gmock.h"
#include "runtime/sim/cluster.h"
#include "tests/sim/faults.h"
#include "tests/sim/programs.h"
#include "tests/sim/run_seeds.h"

namespace dogged {
namespace {

// Long enough for verdicts to be passed while it runs.
SimOptions Slow(FaultPlan faults) {
  return {.agents = 5,
          .faults = faults,
          .task_time = absl::Milliseconds(200),
          .time_max = absl::Minutes(15),
          .heals_within = absl::Seconds(10)};
}

TEST(Partitions, HalvesBecomeOneAgain) {
  RunSeeds(Heat1dJob(101, 20, 8), Slow({.split = 2}), 30);
  RunSeeds(CholeskyJob(8), Slow({.split = 2}), 30);
}

TEST(Partitions, AnAgentMayHearNobodyOrNobodyHearIt) {
  RunSeeds(CholeskyJob(8), Slow({.deaf = 1}), 30);
  RunSeeds(CholeskyJob(8), Slow({.mute = 1}), 30);
  RunSeeds(Heat1dJob(101, 20, 8), Slow({.deaf = 1, .mute = 1}), 30);
}

TEST(Partitions, AgentsThatStoodStillForLongComeBack) {
  RunSeeds(CholeskyJob(8), Slow({.stop = 3}), 30);
  RunSeeds(CholeskyJob(8), Slow({.crash = 2, .join = 2, .stop = 1}), 30);
}

TEST(Partitions, ALinkThatIsDownHoldsNothingUp) {
  const Job job = CholeskyJob(8);
  const absl::Duration whole = RunSeeds(job, Slow({}), 20).elapsed;
  EXPECT_LT(RunSeeds(job, Slow({.link = 1}), 40).elapsed, 1.3 * whole);
  EXPECT_LT(RunSeeds(job, Slow({.large = 1}), 40).elapsed, 1.3 * whole);
  RunSeeds(job, Slow({.link = 2, .large = 2, .slow = 2}), 30);
}

// Bytes on their way over it as it broke stay in the queue of a connection
// for as long, and are no sign that the agent takes no more.
TEST(Partitions, WhatStallsOnALinkThatIsDownCostsNoCredit) {
  const Job job = CholeskyJob(8);
  SimOptions options = Slow({});
  options.limits.outbox_bytes_max = 1 << 20;
  options.job_limits.credit_bytes = 500;
  const absl::Duration whole = RunSeeds(job, options, 20).elapsed;
  options.faults.link = 1;
  EXPECT_LT(RunSeeds(job, options, 40).elapsed, 1.3 * whole);
}

TEST(Partitions, AllAtOnce) {
  const FaultPlan all{.crash = 1,
                      .restart = 1,
                      .join = 1,
                      .leave = 1,
                      .stop = 1,
                      .split = 1,
                      .deaf = 1,
                      .mute = 1,
                      .link = 1,
                      .large = 1,
                      .slow = 1};
  SimOptions options = Slow(all);
  options.agents = 8;
  RunSeeds(CholeskyJob(8), options, 40);
  RunSeeds(Heat1dJob(101, 20, 8), options, 40);
}

}  // namespace
}  // namespace dogged

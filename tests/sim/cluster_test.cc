// Aim: whatever dies, joins, stalls or gets lost, a run ends with the serial
// results. Method: whole clusters in one thread, many seeds, against a run
// without agents.
#include "runtime/sim/cluster.h"

#include "gmock/gmock.h"
#include "tests/sim/faults.h"
#include "tests/sim/programs.h"
#include "tests/sim/run_seeds.h"
#include "tests/sim/serial.h"

namespace dogged {
namespace {

// Loads UpdatingMixKernels.
KernelLoader UpdatingLoader(int64_t* in_place) {
  return [in_place](const Job& job) -> absl::StatusOr<KernelTable> {
    KernelTable out;
    for (size_t i = 0; i < job.program.kernels.size(); ++i) {
      out.push_back(std::make_unique<UpdatingMixKernel>(in_place));
    }
    return out;
  };
}

TEST(Cluster, RunsAStencilWithoutFaults) {
  EXPECT_EQ(RunSeeds(Heat1dJob(101, 20, 8), {}, 5).refused, 0);
}

TEST(Cluster, RunsACholeskyWithoutFaults) {
  EXPECT_EQ(RunSeeds(CholeskyJob(8), {}, 5).refused, 0);
}

// Agents learn of the job in turn; late ones are told of labels that they
// missed instead of finding out at the demand timeout.
TEST(Cluster, LateBeginnersAreToldWhatTheyMissed) {
  EXPECT_LT(RunSeeds(CholeskyJob(8), {.gathers_first = false}, 20).elapsed,
            absl::Milliseconds(500));
}

TEST(Cluster, RunsAStencilUnderManyFaults) {
  const SimOptions options{.faults = ManyFaults()};
  EXPECT_GT(RunSeeds(Heat1dJob(101, 20, 8), options, 50).refused, 0);
}

TEST(Cluster, RunsACholeskyUnderManyFaults) {
  RunSeeds(CholeskyJob(8), {.faults = ManyFaults()}, 50);
}

// Values that agents of a host lend to each other are whole for as long as an
// agent reads them, even if agents die, are suspected or come back meanwhile:
// returned memory is scribbled over, which kernels would read.
TEST(Cluster, LentValuesAreWhole) {
  FaultPlan faults = ManyFaults();
  faults.pause = 4;
  faults.network.duplicate = 0.1;
  faults.network.reorder = 0.1;
  const SimOptions options{
      .agents = 6, .faults = faults, .hosts = 2, .arena_bytes = 1 << 18};
  EXPECT_GT(RunSeeds(Heat1dJob(101, 20, 8), options, 40).loans, 1000);
  EXPECT_GT(RunSeeds(CholeskyJob(8), options, 40).loans, 1000);
}

// Copies, and what goes to new homes, are offered by their digest; agents that
// have them, or need them no more, take no bytes, and nothing is missing.
TEST(Cluster, WhoHasAValueTakesNoBytes) {
  SimOptions options{.faults = {.join = 2, .leave = 1},
                     .job_limits = {{.offer_bytes_min = 0}},
                     .arena_bytes = 0,
                     .stream_bytes_min = 8};
  EXPECT_GT(RunSeeds(CholeskyJob(8), options, 20).spared, 0);
  options.faults = ManyFaults();
  EXPECT_GT(RunSeeds(CholeskyJob(8), options, 25).spared, 0);
  EXPECT_GT(RunSeeds(Heat1dJob(101, 20, 8), options, 25).spared, 0);
}

// Agents of a host that are there when a job is submitted have even shares of
// it, if no tasks are granted.
TEST(Cluster, HomesAreEven) {
  SimOptions options{.agents = 4,
                     .gathers_first = true,
                     .hosts = 1,
                     .job_limits = {.granted_task_min = absl::Hours(1)}};
  const Job stencil = Heat1dJob(256, 40, 8);
  const Work even = RunSeeds(stencil, options, 10);
  EXPECT_LT(even.most_per_share, 1.03);
  EXPECT_LT(RunSeeds(CholeskyJob(12), options, 10).most_per_share, 1.05);
  options.gathers_first = false;
  const Work uneven = RunSeeds(stencil, options, 10);
  EXPECT_GT(uneven.most_per_share, 1.2);
  EXPECT_LT(even.elapsed, 0.85 * uneven.elapsed);
}

// Between hosts a layout may trade some of that for labels that need not
// travel.
TEST(Cluster, HomesBetweenHostsAreNearlyEven) {
  const SimOptions options{.agents = 4,
                           .gathers_first = true,
                           .hosts = 4,
                           .job_limits = {.granted_task_min = absl::Hours(1)}};
  EXPECT_LT(RunSeeds(CholeskyJob(12), options, 10).most_per_share, 1.15);
  EXPECT_LT(RunSeeds(Heat1dJob(256, 40, 8), options, 10).most_per_share, 1.03);
}

// Some begin a job before they hear of its homes, and go by the hash alone
// until then.
TEST(Cluster, HomesMayComeLate) {
  SimOptions options{.agents = 5,
                     .gathers_first = true,
                     .hosts = 1,
                     .job_limits = {.granted_task_min = absl::Hours(1)}};
  options.faults.network.drop = 0.15;
  EXPECT_LT(RunSeeds(CholeskyJob(8), options, 40).most_per_share, 1.1);
  EXPECT_LT(RunSeeds(Heat1dJob(119, 20, 8), options, 40).most_per_share, 1.1);
}

// A hash alone leaves some of four agents with far more than their share.
TEST(Cluster, IdleAgentsTakeTasks) {
  SimOptions options{.agents = 4, .gathers_first = false};
  const Job stencil = Heat1dJob(401, 40, 16);
  const Work calm = RunSeeds(stencil, options, 5);
  EXPECT_LT(calm.executed_per_needed, 1.01);
  options.job_limits.granted_task_min = absl::Hours(1);  // nothing is given
  EXPECT_LT(calm.elapsed, 0.8 * RunSeeds(stencil, options, 5).elapsed);
}

TEST(Cluster, WhatIsGivenMayBeLost) {
  FaultPlan faults = ManyFaults();
  faults.network.drop = 0.1;
  faults.network.duplicate = 0.1;
  for (const int replicas : {1, 2}) {
    RunSeeds(CholeskyJob(10),
             {.agents = 6, .job = {.replicas = replicas}, .faults = faults},
             20);
  }
  faults.leave = 3;
  RunSeeds(Heat1dJob(101, 20, 8), {.agents = 6, .faults = faults}, 20);
}

// Segments keep their order where nothing breaks it: none is asked for again.
TEST(Cluster, StreamsTakeLittleTime) {
  const auto elapsed = [](int64_t stream_bytes_min) {
    const SimOptions options{.agents = 6,
                             .seed = 7,
                             .job_limits = {{.credit_bytes = 1 << 30}},
                             .arena_bytes = 0,
                             .stream_bytes_min = stream_bytes_min};
    const SimOutcome outcome =
        Cluster(options, CholeskyJob(16).Encode(), LoadLargeMixKernels).Run();
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    return outcome.elapsed;
  };
  EXPECT_LT(elapsed(/*stream_bytes_min=*/2048), 1.2 * elapsed(1 << 20));
}

// Values are announced first, to all: consumers ask, the client of this agent
// among them.
TEST(Cluster, WithoutCreditValuesAreAskedFor) {
  SimOptions options{.agents = 4, .arena_bytes = 0};
  options.job_limits.credit_bytes = 1 << 20;
  const Work pushed = RunSeeds(CholeskyJob(16), options, 5);
  options.job_limits.credit_bytes = 0;
  const Work asked = RunSeeds(CholeskyJob(16), options, 5);
  EXPECT_LT(asked.executed_per_needed, 1.02);
  EXPECT_LT(asked.elapsed, 1.2 * pushed.elapsed);
  options.faults = ManyFaults();
  RunSeeds(CholeskyJob(8), options, 20);
  RunSeeds(Heat1dJob(101, 20, 8), options, 20);
}

// A used label waits for copies of the labels made of it. Where tasks are short
// nothing is old enough to be copied, but for cuts.
TEST(Cluster, CutsBoundWhatWaitsForCopies) {
  SimOptions options{.agents = 2, .task_time = absl::Microseconds(20)};
  const Job job = WavefrontJob(200);
  options.job_limits.generation_interval = 1 << 20;
  options.job_limits.copies.delay = absl::Seconds(1);
  options.job_limits.copies.cut_labels = INT64_MAX;
  options.job_limits.cuts.loss_interval = absl::Hours(24);
  options.job_limits.cuts.labels_max = INT64_MAX;
  const int64_t without = RunSeeds(job, options, 3).held_labels_max;
  options.job_limits.copies.cut_labels = 256;
  options.job_limits.cuts.labels_max = 256;
  EXPECT_LT(RunSeeds(job, options, 3).held_labels_max, without * 3 / 4);
}

// Between hosts values of tasks of one agent go as soon as they are used up,
// and are made again from the last cut, or from the start, if that agent dies.
// Labels that other agents read are kept until those agents' outputs have
// copies.
TEST(Cluster, WithoutCutsMemoryIsBoundedAndLossesAreMadeAgain) {
  const Job job = Heat1dJob(301, 60, 16);
  SimOptions options{.agents = 4,
                     .job_limits = {{.cuts = {.loss_interval = absl::Hours(24)},
                                     .cut_bytes_min = 0}},
                     .arena_bytes = 0};
  // An agent makes 4500 labels, and most of its readers are its own.
  EXPECT_LT(RunSeeds(job, options, 5).held_labels_max, 2000);
  options.faults = {.crash = 1};
  const Work hit = RunSeeds(job, options, 20);
  // Half of the work of one agent of four.
  EXPECT_LT(hit.executed_per_needed, 1.25);
  options.faults = ManyFaults();
  RunSeeds(job, options, 20);
  RunSeeds(CholeskyJob(8), options, 20);
}

// A value updated in place is gone if its task dies with it: then it is made
// again from the values left.
TEST(Cluster, UpdatesHappenInPlace) {
  int64_t in_place = 0;
  const KernelLoader loader = UpdatingLoader(&in_place);
  const Job job = CholeskyJob(8);
  for (const int replicas : {1, 2}) {
    SimOptions options{.agents = 4, .job = {.replicas = replicas}};
    in_place = 0;
    const Work calm = RunSeeds(job, options, 5, loader);
    // 120 of 156 tasks have an input of their own. Copies are made of those
    // that wait for long.
    EXPECT_GT(in_place, 5 * (replicas == 1 ? 84 : 40)) << replicas;
    EXPECT_LT(calm.executed_per_needed, 1.05) << replicas;
    options.faults = ManyFaults();
    RunSeeds(job, options, 25, loader);
    RunSeeds(QrJob(10), options, 15, loader);
  }
}

TEST(Cluster, OneCopySurvivesToo) {
  RunSeeds(Heat1dJob(101, 20, 8),
           {.job = {.replicas = 1}, .faults = ManyFaults()}, 25);
}

// A loss beyond the copies is made again from the retained generations, in
// memory that grows with the frontier, not with the history.
TEST(Cluster, PinsBoundWhatADeathCosts) {
  const Job job = Heat1dJob(301, 60, 16);
  SimOptions options{.agents = 4,
                     .job = {.replicas = 1},
                     .job_limits = {{.generation_interval = 8}}};
  const Work calm = RunSeeds(job, options, 3);
  options.faults = {.crash = 1};
  const Work hit = RunSeeds(job, options, 12);
  EXPECT_LT(hit.executed_per_needed, 1.12);
  EXPECT_LT(hit.held_labels_max, 3 * calm.held_labels_max);
}

TEST(Cluster, PinsHaveACopyMoreThanTwoDeathsTake) {
  const Work hit = RunSeeds(Heat1dJob(301, 60, 16),
                            {.agents = 5,
                             .job = {.replicas = 2},
                             .faults = {.pair = 1},
                             .job_limits = {{.generation_interval = 8}}},
                            10);
  EXPECT_LT(hit.executed_per_needed, 1.12);
}

TEST(Cluster, TheSearchAloneIsEnough) {
  RunSeeds(Heat1dJob(41, 10, 4),
           {.job = {.search_only = true}, .faults = ManyFaults()}, 25);
  RunSeeds(CholeskyJob(6),
           {.job = {.search_only = true}, .faults = ManyFaults()}, 25);
}

// An agent of another numeric class serves and routes, but runs no task of the
// job and holds no shard of it, even when the client talks to it.
TEST(Cluster, AgentsOfAnotherNumericClassRunNothing) {
  Job job = Heat1dJob(101, 20, 8);
  job.numeric_class = "native";
  const auto expected = SerialResults(job);
  FaultPlan faults = ManyFaults();
  faults.crash = 1;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const SimOutcome outcome =
        Cluster({.foreign_agents = 4, .seed = seed, .faults = faults},
                job.Encode(), LoadMixKernels)
            .Run();
    ASSERT_TRUE(outcome.status.ok()) << "seed " << seed << outcome.status;
    EXPECT_EQ(outcome.results, expected) << "seed " << seed;
    EXPECT_EQ(outcome.foreign_tasks, 0) << "seed " << seed;
    EXPECT_EQ(outcome.foreign_labels, 0) << "seed " << seed;
  }
}

TEST(Cluster, AJobThatNobodyCanRunFailsAfterAWhile) {
  Job job = Heat1dJob(41, 10, 4);
  job.numeric_class = "native";
  const std::string encoded = job.Encode();
  const SimOutcome outcome =
      Cluster({.agents = 3, .foreign_agents = 3}, encoded, LoadMixKernels)
          .Run();
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(outcome.status.message()),
              testing::HasSubstr("numeric class \"native\" for 30s"));
  EXPECT_GE(outcome.elapsed, absl::Seconds(30));
  EXPECT_LE(outcome.elapsed, absl::Seconds(33));
  EXPECT_EQ(outcome.foreign_tasks, 0);

  // An agent that joins in time runs all of it.
  const SimOutcome joined = Cluster({.agents = 3,
                                     .foreign_agents = 3,
                                     .faults = {.join = 1},
                                     .fault_span = absl::Seconds(25)},
                                    encoded, LoadMixKernels)
                                .Run();
  EXPECT_TRUE(joined.status.ok()) << joined.status;
}

// A job belongs to no agent. Its client may die; it ends all the same, as done
// with the digest of its results.
TEST(Cluster, AJobWithoutAClientEndsByItself) {
  for (const Job& job : {Heat1dJob(101, 20, 8), CholeskyJob(6)}) {
    const Digest expected = DigestOfDigests(SerialResults(job));
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      // The submitter may be the one that crashes, with the only record.
      FaultPlan faults = ManyFaults();
      faults.crash = faults.restart = 0;
      const SimOutcome calm =
          Cluster({.client_stays = false, .seed = seed, .faults = faults},
                  job.Encode(), LoadMixKernels)
              .Run();
      ASSERT_TRUE(calm.status.ok()) << "seed " << seed << calm.status;
      EXPECT_EQ(calm.record.state, JobState::kDone) << "seed " << seed;
      EXPECT_EQ(calm.record.result_digest, expected) << "seed " << seed;
      const SimOutcome crashes = Cluster({.client_stays = false,
                                          .seed = seed,
                                          .faults = {.crash = 2, .join = 2},
                                          .fault_span = absl::Seconds(3)},
                                         job.Encode(), LoadMixKernels)
                                     .Run();
      ASSERT_TRUE(crashes.status.ok()) << "seed " << seed << crashes.status;
      EXPECT_EQ(crashes.record.result_digest, expected) << "seed " << seed;
    }
  }
}

TEST(Cluster, ClaimsSaveWork) {
  const Job job = CholeskyJob(10);
  const Work with = RunSeeds(job, {.job = {.search_only = true}}, 5);
  const Work without =
      RunSeeds(job, {.job = {.search_only = true, .claims = false}}, 5);
  EXPECT_LT(with.executed_per_needed, 1.1);
  EXPECT_GT(without.executed_per_needed, 1.3);
  EXPECT_LT(without.executed_per_needed, 2);  // or all walk alike
}

// Leaving hands over first: next to nothing is computed again for it, and all
// of it is handed over in time.
TEST(Cluster, LeavingHandsOver) {
  const Job job = Heat1dJob(301, 40, 16);
  double executed = 0;
  double needed = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (const int leave : {0, 3}) {
      const SimOutcome outcome =
          Cluster({.seed = seed, .faults = {.leave = leave}}, job.Encode(),
                  LoadMixKernels)
              .Run();
      ASSERT_TRUE(outcome.status.ok()) << "seed " << seed << outcome.status;
      // Agents that join at the start cost some, with and without leaving.
      (leave == 0 ? needed : executed) +=
          static_cast<double>(outcome.stats.tasks_executed);
      // Before its deadline, or its labels would be lost.
      EXPECT_LT(outcome.leave_time_max, absl::Seconds(9)) << "seed " << seed;
    }
  }
  EXPECT_LE(executed, 1.005 * needed) << "with and without leaving";
}

// An agent makes an output whose home is elsewhere, and becomes that home while
// a client waits for it: one run in two hundred hung.
TEST(Cluster, WhatAClientWaitsForIsHandedOutWhenItsHomeMovesHere) {
  SimOptions options{.agents = 4, .faults = {.join = 1, .leave = 2}};
  RunSeeds(QrJob(8), options, 400);
}

// Not even tasks that it runs for other agents as it is told to leave, nor
// values that it has used up in place.
TEST(Cluster, LeavingRunsNothingTwice) {
  int64_t in_place = 0;
  const KernelLoader load = UpdatingLoader(&in_place);
  const SimOptions options{.agents = 4, .faults = {.leave = 1}};
  EXPECT_EQ(RunSeeds(CholeskyJob(8), options, 250, load).executed_per_needed,
            1);
  EXPECT_EQ(RunSeeds(QrJob(8), options, 100).executed_per_needed, 1);
  EXPECT_GT(in_place, 0);
}

// Homes move between agents that live, so what one made the other need not.
TEST(Cluster, LeavingAndJoiningRunLittleTwice) {
  for (const Job& job : {CholeskyJob(8), QrJob(10), Heat1dJob(101, 20, 8)}) {
    for (const FaultPlan& faults :
         {FaultPlan{}, FaultPlan{.leave = 2}, FaultPlan{.leavers = 1},
          FaultPlan{.join = 2}}) {
      const Work work =
          RunSeeds(job, {.agents = 5, .faults = faults}, /*seeds=*/40);
      EXPECT_LE(work.executed_per_needed, 1.04)
          << job.program.name << " with " << faults.join << " joining and "
          << faults.leave << " leaving, " << 2 * faults.leavers << " at once";
    }
  }
}

TEST(Cluster, ASeedReplaysToTheSameTrace) {
  const std::string encoded = Heat1dJob(41, 10, 4).Encode();
  SimOptions options{.seed = 7, .faults = ManyFaults()};
  const SimOutcome first = Cluster(options, encoded, LoadMixKernels).Run();
  const SimOutcome second = Cluster(options, encoded, LoadMixKernels).Run();
  EXPECT_EQ(first.trace_digest, second.trace_digest);
  options.seed = 8;
  const SimOutcome other = Cluster(options, encoded, LoadMixKernels).Run();
  EXPECT_NE(first.trace_digest, other.trace_digest);
}

}  // namespace
}  // namespace dogged

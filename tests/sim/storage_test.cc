// Aim: agents that come back with their directories go on where they were;
// memory that is short, disks that are full or lie cost time or end the job,
// and never change a result. Method: whole clusters in one thread, many seeds,
// against a run without agents.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "runtime/sim/cluster.h"
#include "tests/sim/programs.h"
#include "tests/sim/serial.h"

namespace dogged {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Work {
  double executed_per_needed = 0;
  int64_t live_bytes_max = 0;
  int64_t disk_bytes = 0;  // the most that any run left
};

Work RunSeeds(const Job& job, SimOptions options, int64_t seeds,
              const KernelLoader& load = LoadMixKernels) {
  const auto expected = SerialResults(job, load);
  const std::string encoded = job.Encode();
  Work work;
  double executed = 0;
  double needed = 0;
  const auto [first, last] = SeedRange(seeds);
  for (int64_t seed = first; seed <= last; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    const SimOutcome outcome = Cluster(options, encoded, load).Run();
    EXPECT_TRUE(outcome.status.ok())
        << "seed " << seed << ": " << outcome.status
        << "\nreplay: DOGGED_TEST_SEEDS=" << seed << ":" << seed;
    if (!outcome.status.ok()) break;
    EXPECT_TRUE(outcome.results == expected) << "seed " << seed;
    executed += static_cast<double>(outcome.stats.tasks_executed);
    needed += static_cast<double>(outcome.tasks_needed);
    work.live_bytes_max = std::max(work.live_bytes_max, outcome.live_bytes_max);
    work.disk_bytes = std::max(work.disk_bytes, outcome.disk_bytes);
  }
  work.executed_per_needed = executed / needed;
  std::printf("executed/needed %.3f, live %lld bytes, disks %lld bytes\n",
              work.executed_per_needed,
              static_cast<long long>(work.live_bytes_max),
              static_cast<long long>(work.disk_bytes));
  return work;
}

// All agents die in the middle and come back.
TEST(Storage, ABlackoutCostsLittleWithDirectories) {
  SimOptions options{.agents = 4, .faults = {.blackout = 1}};
  const Job job = Heat1dJob(301, 40, 16);
  const Work without = RunSeeds(job, options, 4);
  options.directories = true;
  const Work with = RunSeeds(job, options, 4);
  EXPECT_LT(with.executed_per_needed, 1.15);
  EXPECT_LT(with.executed_per_needed - 1,
            (without.executed_per_needed - 1) / 2);
}

TEST(Storage, ABlackoutOfACholesky) {
  SimOptions options{
      .agents = 4, .faults = {.blackout = 1}, .directories = true};
  EXPECT_LT(RunSeeds(CholeskyJob(12), options, 20).executed_per_needed, 1.35);
}

TEST(Storage, ManyFaultsWithDirectories) {
  FaultPlan plan{.crash = 2,
                 .restart = 3,
                 .pause = 1,
                 .join = 1,
                 .leave = 1,
                 .partition = 1,
                 .blackout = 1};
  plan.network = {.drop = 0.02, .duplicate = 0.02, .reorder = 0.02};
  RunSeeds(Heat1dJob(101, 20, 8), {.faults = plan, .directories = true}, 30);
  RunSeeds(CholeskyJob(8), {.faults = plan, .directories = true}, 30);
}

// A value from a disk is checked, and counts as lost if it differs from the
// value written.
TEST(Storage, DisksThatLieChangeNoResult) {
  FaultPlan plan{.restart = 3, .blackout = 1};
  RunSeeds(Heat1dJob(101, 20, 8),
           {.faults = plan, .directories = true, .disk = {.corrupt = 0.2}}, 20);
  RunSeeds(CholeskyJob(8),
           {.faults = plan, .directories = true, .disk = {.corrupt = 0.2}}, 20);
}

// All spilled labels, copies among them, may be lost at once, and are made
// again.
TEST(Storage, DisksThatLoseAllChangeNoResult) {
  for (const Job& job : {Heat1dJob(101, 20, 8), CholeskyJob(10)}) {
    SimOptions options{.spill = true, .disk = {.lose = 0.05}};
    options.job_limits.memory_bytes_max = 150000;
    RunSeeds(job, options, 20, LoadLargeMixKernels);
  }
  RunSeeds(Heat1dJob(101, 20, 8),
           {.faults = {.restart = 3, .blackout = 1},
            .directories = true,
            .disk = {.lose = 0.1}},
           20);
}

TEST(Storage, AFullDiskCostsADirectoryAndNoJob) {
  RunSeeds(Heat1dJob(101, 20, 8),
           {.faults = {.crash = 2},
            .directories = true,
            .disk = {.bytes_max = 5000}},
           20);
}

TEST(Storage, AFullDiskThatMemoryNeedsEndsTheJobWithItsReason) {
  SimOptions options{.agents = 2, .spill = true, .disk = {.bytes_max = 20000}};
  options.job_limits.memory_bytes_max = 200000;
  const Job job = CholeskyJob(12);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    options.seed = seed;
    const SimOutcome outcome =
        Cluster(options, job.Encode(), LoadLargeMixKernels).Run();
    EXPECT_EQ(outcome.status.code(), absl::StatusCode::kResourceExhausted)
        << outcome.status << " seed " << seed;
    EXPECT_THAT(std::string(outcome.status.message()),
                AllOf(HasSubstr("agent "), HasSubstr("full")));
  }
}

// A third of what the agents hold otherwise. Values are 8 kB each.
TEST(Storage, ShortMemoryCostsNoResult) {
  const Job stencil = Heat1dJob(101, 20, 8);
  const Job cholesky = CholeskyJob(10);
  for (const int replicas : {1, 2}) {
    SimOptions options{.agents = 4, .job = {.replicas = replicas}};
    for (const Job* job : {&stencil, &cholesky}) {
      options.job_limits.memory_bytes_max = 0;
      options.spill = false;
      const int64_t enough =
          RunSeeds(*job, options, 3, LoadLargeMixKernels).live_bytes_max;
      options.job_limits.memory_bytes_max = enough / 3;
      options.spill = true;
      const Work work = RunSeeds(*job, options, 10, LoadLargeMixKernels);
      EXPECT_LT(work.executed_per_needed, 1.1);
      // Values come from others whether or not there is room.
      EXPECT_LT(work.live_bytes_max, enough * 2 / 3);
    }
  }
}

TEST(Storage, ShortMemoryUnderFaultsCostsNoResult) {
  FaultPlan plan{.crash = 1, .restart = 1, .pause = 1, .join = 1, .leave = 1};
  plan.network = {.drop = 0.02, .duplicate = 0.02, .reorder = 0.02};
  SimOptions options{.faults = plan, .spill = true, .disk = {.corrupt = 0.02}};
  options.job_limits.memory_bytes_max = 150000;
  RunSeeds(CholeskyJob(10), options, 15, LoadLargeMixKernels);
  // Where all begin at once, what is ready may have to wait, and its inputs are
  // not to stand in the way of others' meanwhile.
  for (const bool gathers_first : {false, true}) {
    options.gathers_first = gathers_first;
    RunSeeds(Heat1dJob(101, 20, 8), options, gathers_first ? 60 : 15,
             LoadLargeMixKernels);
  }
}

// The number in the words is enough, for all tasks.
TEST(Storage, MemoryThatNoTaskFitsIntoEndsTheJobWithTheNumber) {
  for (const int agents : {1, 2, 4}) {
    for (const Job& job : {CholeskyJob(6), Heat1dJob(101, 20, 8)}) {
      SimOptions options{.agents = agents, .seed = 1, .spill = true};
      options.job_limits.memory_bytes_max = 10000;
      const std::string encoded = job.Encode();
      const SimOutcome refused =
          Cluster(options, encoded, LoadLargeMixKernels).Run();
      ASSERT_EQ(refused.status.code(), absl::StatusCode::kResourceExhausted)
          << refused.status;
      EXPECT_EQ(refused.stats.tasks_executed, 0);  // none that must run again
      const std::string words(refused.status.message());
      const size_t end = words.find(" would do");
      ASSERT_NE(end, std::string::npos) << words;
      const size_t begin = words.rfind(' ', end - 1) + 1;
      options.job_limits.memory_bytes_max =
          std::stoll(words.substr(begin, end - begin));
      for (uint64_t seed = 1; seed <= 20; ++seed) {
        options.seed = seed;
        const SimOutcome outcome =
            Cluster(options, encoded, LoadLargeMixKernels).Run();
        EXPECT_TRUE(outcome.status.ok())
            << outcome.status << " after: " << words << ", seed " << seed
            << ", agents " << agents;
      }
    }
  }
}

}  // namespace
}  // namespace dogged

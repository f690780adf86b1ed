// Aim: however long tasks and compilers take, nothing is repeated for that, and
// what a death took is made again as soon as if they were short. Method: whole
// clusters in virtual time.
#include "tests/sim/faults.h"
#include "tests/sim/programs.h"
#include "tests/sim/run_seeds.h"

namespace dogged {
namespace {

TEST(LongTasks, AreGivenOnce) {
  const SimOptions options{.agents = 4, .task_time = absl::Seconds(3)};
  EXPECT_EQ(RunSeeds(Heat1dJob(101, 10, 8), options, 5).executed_per_needed, 1);
}

// How long recovery takes does not grow with how long tasks take.
TEST(LongTasks, ThatDiedAreMissedSoon) {
  const absl::Duration task_time = absl::Seconds(10);
  const SimOptions options{.agents = 4,
                           .gathers_first = true,
                           .job = {.replicas = 1},
                           .faults = {.crash = 1},
                           .task_time = task_time,
                           .time_max = absl::Hours(4)};
  const Work hit = RunSeeds(CholeskyJob(8), options, 12);
  EXPECT_LT(hit.elapsed, 72 * task_time);  // four agents take 50 without
  EXPECT_LT(hit.executed_per_needed, 1.12);
  EXPECT_LT(RunSeeds(Heat1dJob(51, 10, 8), options, 6).elapsed,
            270 * task_time);
}

// A task that runs while its home moves runs once, however long it takes.
TEST(LongTasks, AreNotRepeatedWhereTheyMoveTo) {
  const SimOptions options{.agents = 4,
                           .gathers_first = true,
                           .faults = {.join = 2},
                           .task_time = absl::Seconds(10),
                           .time_max = absl::Hours(4)};
  EXPECT_EQ(RunSeeds(Heat1dJob(101, 10, 8), options, 10).executed_per_needed,
            1);
}

// A slow compiler keeps no agent from answering: nobody is taken for dead.
TEST(LongTasks, KernelsMayBeLongInCompiling) {
  const Job job = Heat1dJob(101, 20, 8);
  const auto expected = SerialResults(job);
  const SimOutcome outcome =
      Cluster({.compile_time = absl::Seconds(20)}, job.Encode(), LoadMixKernels)
          .Run();
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.results, expected);
  // Kernels come at other times at other agents; little is run for that.
  EXPECT_LT(static_cast<double>(outcome.stats.tasks_executed),
            1.01 * static_cast<double>(outcome.tasks_needed));
}

}  // namespace
}  // namespace dogged

// Aim: a job that is one chain goes on at its own pace, though each agent
// stands still while the chain is at others. Method: simulation, with so little
// room for searches that they would throw out what came by notification.
#include "gtest/gtest.h"
#include "runtime/sim/cluster.h"
#include "tests/sim/faults.h"
#include "tests/sim/programs.h"
#include "tests/sim/serial.h"

namespace dogged {
namespace {

constexpr absl::Duration kTaskTime = absl::Milliseconds(20);

TEST(Chain, WaitingForOthersIsNoLoss) {
  const Job job = SweepsJob(150, 8, 50);
  const auto expected = SerialResults(job);
  const auto [first, last] = SeedRange(5);
  for (int64_t seed = first; seed <= last; ++seed) {
    const SimOutcome outcome =
        Cluster({.agents = 3,
                 .seed = static_cast<uint64_t>(seed),
                 .task_time = kTaskTime,
                 .job_limits = {.demanded_tasks_max = 32}},
                job.Encode(), LoadMixKernels)
            .Run();
    ASSERT_TRUE(outcome.status.ok()) << "seed " << seed << outcome.status;
    EXPECT_EQ(outcome.results, expected) << "seed " << seed;
    EXPECT_LT(outcome.elapsed, outcome.tasks_needed * kTaskTime * 6 / 5)
        << "seed " << seed;
    EXPECT_LT(outcome.messages, 6 * outcome.tasks_needed) << "seed " << seed;
  }
}

TEST(Chain, RunsUnderManyFaults) {
  const Job job = SweepsJob(60, 6, 20);
  const auto expected = SerialResults(job);
  const auto [first, last] = SeedRange(30);
  for (int64_t seed = first; seed <= last; ++seed) {
    const SimOutcome outcome =
        Cluster({.seed = static_cast<uint64_t>(seed),
                 .faults = ManyFaults(),
                 .job_limits = {.demanded_tasks_max = 32}},
                job.Encode(), LoadMixKernels)
            .Run();
    ASSERT_TRUE(outcome.status.ok()) << "seed " << seed << outcome.status;
    EXPECT_EQ(outcome.results, expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace dogged

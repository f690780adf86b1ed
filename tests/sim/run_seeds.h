// Whole simulated clusters, one a seed, against a run without agents.
#ifndef DOGGED_TESTS_SIM_RUN_SEEDS_H_
#define DOGGED_TESTS_SIM_RUN_SEEDS_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/sim/cluster.h"
#include "tests/sim/programs.h"
#include "tests/sim/serial.h"

namespace dogged {

// Over all seeds.
struct Work {
  double executed_per_needed = 0;
  // Tasks of the agent that executed most, by an even share; the mean.
  double most_per_share = 0;
  int64_t held_labels_max = 0;  // at any agent
  absl::Duration elapsed;       // virtual, mean
  int64_t loans = 0;
  int64_t spared = 0;
  int64_t refused = 0;
};

inline Work RunSeeds(const Job& job, SimOptions options, int64_t seeds,
                     const KernelLoader& loader = LoadMixKernels) {
  const auto expected = SerialResults(job, loader);
  const std::string encoded = job.Encode();
  Work work;
  double executed = 0;
  double needed = 0;
  int failed = 0;
  const auto [first, last] = SeedRange(seeds);
  for (int64_t seed = first; seed <= last; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    const SimOutcome outcome = Cluster(options, encoded, loader).Run();
    EXPECT_TRUE(outcome.status.ok())
        << "seed " << seed << ": " << outcome.status
        << "\nreplay: DOGGED_TEST_SEEDS=" << seed << ":" << seed;
    if (outcome.status.ok()) {
      EXPECT_EQ(outcome.results, expected) << "seed " << seed;
    }
    executed += static_cast<double>(outcome.stats.tasks_executed);
    needed += static_cast<double>(outcome.tasks_needed);
    work.held_labels_max =
        std::max(work.held_labels_max, outcome.held_labels_max);
    work.loans += outcome.loans;
    work.spared += outcome.spared;
    work.refused += outcome.refused;
    const double runs = static_cast<double>(last - first + 1);
    work.elapsed += outcome.elapsed / runs;
    int64_t most = 0;
    for (const JobStats& stats : outcome.agent_stats) {
      most = std::max(most, stats.tasks_executed);
    }
    work.most_per_share += static_cast<double>(most * options.agents) /
                           static_cast<double>(outcome.tasks_needed) / runs;
    failed += outcome.status.ok() ? 0 : 1;
    if (failed > 3) break;
  }
  work.executed_per_needed = executed / needed;
  testing::Test::RecordProperty("executed_per_needed",
                                absl::StrCat(work.executed_per_needed));
  testing::Test::RecordProperty("elapsed", absl::FormatDuration(work.elapsed));
  testing::Test::RecordProperty("held_labels_max",
                                absl::StrCat(work.held_labels_max));
  return work;
}

}  // namespace dogged

#endif  // DOGGED_TESTS_SIM_RUN_SEEDS_H_

// Aim: a client that attached to a job, and reads its results long after
// another one has read them and gone, gets them all the same. Method: simulated
// clusters, many seeds.
#include <cstdint>
#include <utility>

#include "gmock/gmock.h"
#include "runtime/sim/cluster.h"
#include "tests/sim/faults.h"
#include "tests/sim/programs.h"
#include "tests/sim/serial.h"

namespace dogged {
namespace {

void ReadTwice(const Job& job, SimOptions options, int64_t seeds) {
  const auto expected = SerialResults(job);
  options.second_client = true;
  const auto [first, last] = SeedRange(seeds);
  for (int64_t seed = first; seed <= last; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    const SimOutcome outcome =
        Cluster(options, job.Encode(), LoadMixKernels).Run();
    ASSERT_TRUE(outcome.status.ok())
        << "seed " << seed << ": " << outcome.status
        << "\nreplay: DOGGED_TEST_SEEDS=" << seed << ":" << seed;
    EXPECT_EQ(outcome.results, expected) << "seed " << seed;
    EXPECT_EQ(outcome.later_results, expected) << "seed " << seed;
  }
}

TEST(Clients, TheSecondOneReadsWhatTheFirstOneHasRead) {
  for (const Job& job : {Heat1dJob(101, 20, 8), CholeskyJob(6)}) {
    ReadTwice(job, {.agents = 3}, 40);
  }
}

TEST(Clients, TheSecondOneReadsAfterFaults) {
  ReadTwice(Heat1dJob(101, 20, 8),
            {.agents = 4,
             .faults = {.crash = 1, .pause = 1, .join = 1, .leave = 1},
             .fault_span = absl::Seconds(6)},
            40);
  ReadTwice(CholeskyJob(6),
            {.faults = ManyFaults(), .fault_span = absl::Seconds(6)}, 20);
}

}  // namespace
}  // namespace dogged

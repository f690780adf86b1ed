// Aim: what a job reads comes to all agents that run it, however long it is
// and whatever dies or gets lost, in parts that no queue is too short for.
// Method: whole clusters in one thread with queues that hold less than a job,
// many seeds, against a run without agents.
#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "tests/sim/faults.h"
#include "tests/sim/programs.h"
#include "tests/sim/run_seeds.h"

namespace dogged {
namespace {

// Queues of 32 KB.
SimOptions ShortQueues() {
  SimOptions options;
  options.limits.segment_bytes = 4096;
  options.limits.outbox_bytes_max = 32 << 10;
  options.limits.job_part_bytes = 2000;
  options.limits.job_parts_at_once = 4;
  return options;
}

// Of some 300 KB, which don't compress.
Job LongJob() {
  Job job = Heat1dJob(101, 20, 8);
  Rng rng(11);
  while (job.source.size() < 300'000) {
    job.source.push_back(static_cast<char>(rng.Below(256)));
  }
  return job;
}

TEST(Inputs, AJobLongerThanAQueueComesToAll) {
  EXPECT_LT(RunSeeds(LongJob(), ShortQueues(), 10).elapsed, absl::Seconds(3));
}

TEST(Inputs, AJobLongerThanAQueueComesThroughFaults) {
  SimOptions options = ShortQueues();
  options.faults = ManyFaults();
  RunSeeds(LongJob(), options, 40);
}

// Longer than all that may wait for an agent: values go as streams, or as that
// takes them.
TEST(Inputs, ValuesLongerThanAQueueComeToAll) {
  SimOptions options = ShortQueues();
  options.limits.segment_bytes = 1000;
  options.limits.outbox_bytes_max = 6000;
  options.arena_bytes = 0;
  const Job job = CholeskyJob(8);
  const auto expected = SerialResults(job, LoadLargeMixKernels);
  for (const bool is_calm : {true, false}) {
    if (!is_calm) options.faults = ManyFaults();
    const auto [first, last] = SeedRange(10);
    for (int64_t seed = first; seed <= last; ++seed) {
      options.seed = static_cast<uint64_t>(seed);
      const SimOutcome outcome =
          Cluster(options, job.Encode(), LoadLargeMixKernels).Run();
      EXPECT_TRUE(outcome.status.ok())
          << outcome.status << "\nreplay: DOGGED_TEST_SEEDS=" << seed << ":"
          << seed;
      if (!outcome.status.ok()) continue;
      EXPECT_EQ(outcome.results, expected) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace dogged

// Aim: the inputs of a job come to all agents that run it, however long they
// are and whatever dies or gets lost, in parts that no queue is too short for.
// Method: whole clusters in one thread with queues that hold less than a job,
// many seeds, against a run without agents.
#include "gmock/gmock.h"
#include "runtime/base/random.h"
#include "tests/sim/faults.h"
#include "tests/sim/input_programs.h"
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

// A job of some 300 KB, which don't compress.
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
  RunSeeds(LongJob(), options, 20);
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

// Chunks of 2 KB, of which an agent holds, and asks for, few at a time.
SimOptions FewChunks(const Job& job) {
  SimOptions options = ShortQueues();
  options.agents = 6;
  options.inputs = &job;
  options.limits.input_window_bytes = 8 << 10;
  options.limits.input_supply_bytes = 16 << 10;
  options.limits.input_ahead_bytes = 16 << 10;
  options.limits.input_cache_bytes = 8 << 10;
  return options;
}

TEST(Inputs, ChunksComeToThoseWhoReadThem) {
  const Job job = WithInput(Heat1dJob(101, 20, 8));
  RunSeeds(job, FewChunks(job), 20, LoadInputMixKernels);
}

TEST(Inputs, ChunksComeThroughFaults) {
  const Job job = WithInput(Heat1dJob(101, 20, 8));
  SimOptions options = FewChunks(job);
  options.faults = ManyFaults();
  RunSeeds(job, options, 30, LoadInputMixKernels);
  options.job.search_only = true;
  RunSeeds(job, options, 12, LoadInputMixKernels);
}

TEST(Inputs, ChunksGoToDiskWhereMemoryIsShort) {
  const Job job = WithInput(Heat1dJob(101, 20, 8));
  SimOptions options = FewChunks(job);
  options.spill = true;
  options.job_limits.memory_bytes_max = 200 << 10;
  RunSeeds(job, options, 12, LoadInputMixKernels);
  options.faults = ManyFaults();
  options.directories = true;
  RunSeeds(job, options, 12, LoadInputMixKernels);
}

// The client has gone before all inputs were with agents: that is said.
TEST(Inputs, WhatNobodyHasEndsInWords) {
  const Job job = WithInput(Heat1dJob(101, 20, 8));
  SimOptions options = FewChunks(job);
  options.inputs = nullptr;
  const auto [first, last] = SeedRange(5);
  for (int64_t seed = first; seed <= last; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    const SimOutcome outcome =
        Cluster(options, job.Encode(), LoadInputMixKernels).Run();
    EXPECT_THAT(std::string(outcome.status.message()),
                testing::HasSubstr("input S is lost"))
        << "seed " << seed;
    EXPECT_LT(outcome.elapsed, absl::Seconds(60)) << "seed " << seed;
  }
}

// Results and inputs have died with most agents after the end: a client that
// asks for the results hears so within seconds.
TEST(Inputs, WhatDiedWithItsInputsEndsInWords) {
  const Job job = WithInput(Heat1dJob(101, 20, 8));
  SimOptions options = FewChunks(job);
  options.client_stays = false;
  options.lost_after_end = 5;
  options.job.keep_ms = 3600 * 1000;
  const auto [first, last] = SeedRange(20);
  for (int64_t seed = first; seed <= last; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    const SimOutcome outcome =
        Cluster(options, job.Encode(), LoadInputMixKernels).Run();
    EXPECT_THAT(std::string(outcome.status.message()),
                testing::HasSubstr("input S is lost"))
        << "seed " << seed << ": " << outcome.status;
    EXPECT_LT(outcome.elapsed, absl::Seconds(30)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace dogged

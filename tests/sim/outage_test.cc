// Aim: a job belongs to its cluster: after all agents died at once, and some
// came back with their directories and others without, it goes on by itself,
// without a client, to the same bits; and agents that come and go at the same
// moment, the first ones among them, cost no result. Method: whole clusters in
// one thread, many seeds, against a run without agents.
#include <cstdint>
#include <utility>

#include "gmock/gmock.h"
#include "runtime/sim/cluster.h"
#include "tests/sim/programs.h"
#include "tests/sim/run_seeds.h"
#include "tests/sim/serial.h"

namespace dogged {
namespace {

// Runs whose client goes once it has submitted the job.
void RunAlone(const Job& job, SimOptions options, int64_t seeds) {
  const Digest expected = DigestOfDigests(SerialResults(job));
  options.client_stays = false;
  options.directories = true;
  options.task_time = absl::Milliseconds(20);
  const auto [first, last] = SeedRange(seeds);
  for (int64_t seed = first; seed <= last; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    const SimOutcome outcome =
        Cluster(options, job.Encode(), LoadMixKernels).Run();
    ASSERT_TRUE(outcome.status.ok())
        << "seed " << seed << ": " << outcome.status
        << "\nreplay: DOGGED_TEST_SEEDS=" << seed << ":" << seed;
    EXPECT_EQ(outcome.record.state, JobState::kDone) << "seed " << seed;
    EXPECT_EQ(outcome.record.result_digest, expected) << "seed " << seed;
  }
}

TEST(Outage, AJobGoesOnByItself) {
  for (const Job& job :
       {Heat1dJob(101, 20, 8), CholeskyJob(8), QrJob(5), WavefrontJob(10)}) {
    RunAlone(job, {.agents = 4, .faults = {.outage = 1}}, 8);
  }
}

TEST(Outage, AJobGoesOnAfterSeveral) {
  for (const Job& job : {Heat1dJob(101, 20, 8), CholeskyJob(8)}) {
    // No agent that leaves comes back here, nor its directory.
    FaultPlan faults{.restart = 1, .join = 1, .outage = 3};
    faults.network = {.drop = 0.02, .duplicate = 0.02, .reorder = 0.02};
    RunAlone(job, {.agents = 4, .faults = faults}, 8);
  }
}

// Disks that lie or lose bytes change no result, nor does the job hang.
TEST(Outage, DisksThatLieCostTime) {
  RunAlone(Heat1dJob(101, 20, 8),
           {.agents = 4, .faults = {.blackout = 1}, .disk = {.corrupt = 0.02}},
           8);
}

// All agents vanish after the end; a client that comes then gets the results
// that were durable, and no task runs again.
TEST(Outage, ResultsOutliveAllAgents) {
  for (const Job& job : {Heat1dJob(101, 20, 8), CholeskyJob(8)}) {
    SimOptions options{.agents = 4,
                       .client_stays = false,
                       .outage_after_end = true,
                       .job = {.keep_ms = 3600 * 1000},
                       .directories = true};
    const Work work = RunSeeds(job, options, 10);
    EXPECT_LT(work.executed_per_needed, 1.02);
  }
}

// Agents die one by one after the end, each replaced by one that never had a
// part in the job: results that are to stay do, hardly a task runs again, and
// only newcomers at which one does make kernels of a job that is over.
TEST(Outage, ResultsOutliveAllWhoMadeThem) {
  int makers = 0;
  const KernelLoader loader = [&makers](const Job& job) {
    ++makers;
    return LoadMixKernels(job);
  };
  for (const Job& job : {Heat1dJob(101, 20, 8), CholeskyJob(8)}) {
    const SimOptions options{.agents = 4,
                             .client_stays = false,
                             .replaces_after_end = true,
                             .job = {.keep_ms = 3600 * 1000}};
    makers = 0;
    const Work work = RunSeeds(job, options, 10, loader);
    EXPECT_LT(work.executed_per_needed, 1.02);
    // Hardly more than newcomers.
    const auto [first, last] = SeedRange(10);
    EXPECT_LT(makers, 4.5 * static_cast<double>(last - first + 1));
  }
}

// --- agents that come and go at the same moment

TEST(Outage, GrowingWhileShrinking) {
  for (const Job& job :
       {Heat1dJob(101, 20, 8), CholeskyJob(8), QrJob(5), WavefrontJob(10)}) {
    RunSeeds(job, {.agents = 5, .faults = {.exchange = 3}}, 8);
  }
}

TEST(Outage, GrowingAgainAtOnce) {
  for (const Job& job :
       {Heat1dJob(101, 20, 8), CholeskyJob(8), QrJob(5), WavefrontJob(10)}) {
    for (const bool has_directories : {false, true}) {
      RunSeeds(job,
               {.agents = 4,
                .faults = {.regrow = 4},
                .directories = has_directories},
               4);
    }
  }
}

TEST(Outage, AllFoundersGo) {
  for (const Job& job :
       {Heat1dJob(101, 20, 8), CholeskyJob(8), QrJob(5), WavefrontJob(10)}) {
    RunSeeds(job, {.agents = 4, .faults = {.founders = 1}}, 8);
  }
}

}  // namespace
}  // namespace dogged

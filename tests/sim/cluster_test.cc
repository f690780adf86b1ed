// Aim: whatever dies, joins, stalls or gets lost, a run ends with the serial
// results. Method: whole clusters in one thread, many seeds, against a run
// without agents.
#include "runtime/sim/cluster.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "runtime/exec/local_run.h"
#include "tests/sim/programs.h"

namespace dogged {
namespace {

absl::btree_map<Label, Digest> SerialResults(const Job& job) {
  const Relations relations(job.program);
  const KernelTable kernels = *LoadMixKernels(job);
  absl::btree_map<Label, Digest> out;
  LocalRunOptions options;
  options.placement = PlaceWorkers(FlatCpuLayout(1), 1);
  options.on_result = [&out](const Label& label, const Value& value) {
    out[label] = value.digest();
    return absl::OkStatus();
  };
  LocalRun run(relations, kernels, options);
  EXPECT_TRUE(run.Run().ok());
  return out;
}

// DOGGED_TEST_SEEDS=A:B runs these seeds instead of the first `count`.
std::pair<int64_t, int64_t> SeedRange(int64_t count) {
  const char* text = std::getenv("DOGGED_TEST_SEEDS");
  long long first = 1;
  long long last = count;
  if (text != nullptr) std::sscanf(text, "%lld:%lld", &first, &last);
  return {first, last};
}

// Returns tasks executed per task needed.
double RunSeeds(const Job& job, SimOptions options, int64_t seeds) {
  const auto expected = SerialResults(job);
  const std::string encoded = job.Encode();
  double executed = 0;
  double needed = 0;
  int failed = 0;
  const auto [first, last] = SeedRange(seeds);
  for (int64_t seed = first; seed <= last; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    const SimOutcome outcome = Cluster(options, encoded, LoadMixKernels).Run();
    EXPECT_TRUE(outcome.status.ok())
        << "seed " << seed << ": " << outcome.status
        << "\nreplay: DOGGED_TEST_SEEDS=" << seed << ":" << seed;
    if (outcome.status.ok()) {
      EXPECT_EQ(outcome.results, expected) << "seed " << seed;
    }
    executed += static_cast<double>(outcome.stats.tasks_executed);
    needed += static_cast<double>(outcome.tasks_needed);
    failed += outcome.status.ok() ? 0 : 1;
    if (failed > 3) break;
  }
  testing::Test::RecordProperty("executed_per_needed",
                                absl::StrCat(executed / needed));
  return executed / needed;
}

FaultPlan ManyFaults() {
  FaultPlan plan{.crash = 2,
                 .restart = 2,
                 .pause = 2,
                 .join = 2,
                 .leave = 1,
                 .partition = 1};
  plan.network = {
      .drop = 0.02, .duplicate = 0.02, .reorder = 0.02, .corrupt = 0.001};
  return plan;
}

TEST(Cluster, RunsAStencilWithoutFaults) {
  RunSeeds(Heat1dJob(101, 20, 8), {}, 5);
}

TEST(Cluster, RunsACholeskyWithoutFaults) { RunSeeds(CholeskyJob(8), {}, 5); }

TEST(Cluster, RunsAStencilUnderManyFaults) {
  RunSeeds(Heat1dJob(101, 20, 8), {.faults = ManyFaults()}, 50);
}

TEST(Cluster, RunsACholeskyUnderManyFaults) {
  RunSeeds(CholeskyJob(8), {.faults = ManyFaults()}, 50);
}

TEST(Cluster, OneCopySurvivesToo) {
  RunSeeds(Heat1dJob(101, 20, 8),
           {.job = {.replicas = 1}, .faults = ManyFaults()}, 25);
}

// With one copy a death loses history, which is rebuilt once, not again and
// again for everyone who needs it.
TEST(Cluster, LostHistoryIsRebuiltOnce) {
  const double redone = RunSeeds(
      Heat1dJob(301, 40, 16),
      {.agents = 4, .job = {.replicas = 1}, .faults = {.crash = 1}}, 10);
  EXPECT_LT(redone, 2.5);
}

TEST(Cluster, TheSearchAloneIsEnough) {
  RunSeeds(Heat1dJob(41, 10, 4),
           {.job = {.search_only = true}, .faults = ManyFaults()}, 25);
  RunSeeds(CholeskyJob(6),
           {.job = {.search_only = true}, .faults = ManyFaults()}, 25);
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

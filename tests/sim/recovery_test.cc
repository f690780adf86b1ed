// Aim: labels that a death takes from a program of points are found at once,
// not some at a time with growing pauses between: values of many short rows
// without a copy, which hang together through all of the program. Method:
// simulation, a death of one of three agents, many seeds, bounds on virtual
// time.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "dsl/compile.h"
#include "dsl/isl/analysis_isl.h"
#include "gtest/gtest.h"
#include "runtime/sim/cluster.h"
#include "tests/sim/programs.h"
#include "tests/sim/serial.h"

namespace dogged {
namespace {

// A recursive filter on n x n points, along the rows and then the columns.
Job DericheJob(int64_t n) {
  std::ifstream in(DOGGED_PROGRAMS_DIR "/deriche.dog");
  std::ostringstream text;
  text << in.rdbuf();
  dsl::CompileOptions options;
  options.file = "deriche.dog";
  options.analyze = dsl::AnalyzeWithIsl;
  options.parameters = {{"W", absl::StrCat(n)}, {"H", absl::StrCat(n)}};
  options.compiled = false;
  options.coalesce = false;
  options.target = {.agents = 3};
  dsl::Diagnostics diagnostics("", "");
  absl::StatusOr<Job> job =
      dsl::Compile(text.str(), options, KernelRegistry(), diagnostics);
  EXPECT_TRUE(job.ok()) << job.status() << diagnostics.ToString();
  return job.ok() ? *std::move(job) : Job();
}

struct Worst {
  absl::Duration elapsed;
  double executed_per_needed = 0;
  double mean_executed_per_needed = 0;
};

Worst RunSeeds(const Job& job, SimOptions options, int64_t seeds) {
  const auto expected = SerialResults(job);
  const std::string encoded = job.Encode();
  Worst out;
  const auto [first, last] = SeedRange(seeds);
  for (int64_t seed = first; seed <= last; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    const SimOutcome outcome = Cluster(options, encoded, LoadMixKernels).Run();
    EXPECT_TRUE(outcome.status.ok()) << outcome.status << ", seed " << seed;
    EXPECT_TRUE(outcome.results == expected) << "seed " << seed;
    if (outcome.elapsed > out.elapsed) {
      std::printf("seed %lld: %s\n", static_cast<long long>(seed),
                  absl::FormatDuration(outcome.elapsed).c_str());
    }
    const double work = static_cast<double>(outcome.stats.tasks_executed) /
                        static_cast<double>(outcome.tasks_needed);
    out.elapsed = std::max(out.elapsed, outcome.elapsed);
    out.executed_per_needed = std::max(out.executed_per_needed, work);
    out.mean_executed_per_needed +=
        work / static_cast<double>(last - first + 1);
  }
  return out;
}

// As by default: two copies, each a little later.
SimOptions ThreeAgents() {
  return {.agents = 3,
          .gathers_first = true,
          .task_time = absl::Microseconds(20),
          .job_limits = {},
          .arena_bytes = 0};
}

// Without a death it takes 0.3 s. Missing labels are demanded after a quarter
// of a second, and searched for from the results after half a second more.
TEST(Recovery, OneSearchFindsAllThatADeathTook) {
  SimOptions options = ThreeAgents();
  options.faults = {.crash = 1};
  options.fault_span = absl::Milliseconds(300);
  const Worst worst = RunSeeds(DericheJob(64), options, 100);
  EXPECT_LT(worst.elapsed, absl::Seconds(1.5));
  EXPECT_LT(worst.executed_per_needed, 1.6);
  EXPECT_LT(worst.mean_executed_per_needed, 1.07);
}

// Rows of more versions than the search goes through step by step.
TEST(Recovery, LongRowsGoOnWhereTheyStop) {
  SimOptions options = ThreeAgents();
  options.faults = {.crash = 1};
  options.fault_span = absl::Seconds(1);
  const Worst worst = RunSeeds(DericheJob(128), options, 12);
  EXPECT_LT(worst.elapsed, absl::Seconds(2.8));
}

// An agent that has just begun waits for others to hand over, but not for the
// dead.
TEST(Recovery, ADeathAtTheStartHoldsNobodyUp) {
  SimOptions options = ThreeAgents();
  options.faults = {.crash = 1};
  options.fault_span = absl::Milliseconds(40);
  const Worst worst = RunSeeds(DericheJob(64), options, 60);
  EXPECT_LT(worst.elapsed, absl::Seconds(0.9));
}

TEST(Recovery, TwoDeathsTakeLittleMore) {
  SimOptions options = ThreeAgents();
  options.faults = {.crash = 2};
  options.fault_span = absl::Seconds(1.2);
  const Worst worst = RunSeeds(DericheJob(64), options, 80);
  EXPECT_LT(worst.elapsed, absl::Seconds(2.5));
}

}  // namespace
}  // namespace dogged

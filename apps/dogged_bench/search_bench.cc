// The experiments of the slides of [REM], in simulation: cost and gain of the
// backward walk at 1 to 16 agents, pure, with claims, and beside owner-first
// order. Tiled Cholesky of 24 x 24 tiles; the tiles are small, for time is
// virtual. Each figure is the median over seeds.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged_bench/bench.h"
#include "apps/tiles/blas_kernels.h"
#include "dsl/compile.h"
#include "dsl/isl/analysis_isl.h"
#include "dsl/kernels/load_kernels.h"
#include "runtime/base/check.h"
#include "runtime/sim/cluster.h"

namespace dogged {
namespace {

constexpr int kTileRows = 24;
constexpr int kTileSize = 16;

struct Mode {
  const char* name;
  bool search_only;
  bool claims;
};
constexpr Mode kModes[] = {{"walk", true, false},
                           {"walk_claims", true, true},
                           {"owner_first", false, true}};

struct Sample {
  double waste = 0;    // tasks executed for each that is needed
  double seconds = 0;  // virtual
  double remote = 0;   // % of the bytes that tasks read
  double tasks = 0;    // of the agent that ran most, to the mean
  double labels = 0;   // of the agent with most in its shards, to the mean
};

KernelRegistry Registry() {
  KernelRegistry out;
  AddBlasKernels(out);
  return out;
}

std::string EncodedJob(int64_t tile_rows) {
  std::ifstream in(DOGGED_APPS_DIR "/cholesky/cholesky.dog");
  std::ostringstream text;
  text << in.rdbuf();
  dsl::CompileOptions compile;
  compile.file = "cholesky.dog";
  compile.parameters = {{"N", absl::StrCat(tile_rows * kTileSize)},
                        {"NB", absl::StrCat(kTileSize)}};
  compile.analyze = dsl::AnalyzeWithIsl;
  dsl::Diagnostics diagnostics("", "");
  const auto job = dsl::Compile(text.str(), compile, Registry(), diagnostics);
  DOGGED_CHECK(job.ok()) << diagnostics.ToString() << job.status().ToString();
  return job->Encode();
}

double MaxToMean(const SimOutcome& outcome, int64_t JobStats::*count) {
  double most = 0;
  double sum = 0;
  for (const JobStats& stats : outcome.agent_stats) {
    most = std::max(most, static_cast<double>(stats.*count));
    sum += static_cast<double>(stats.*count);
  }
  const auto agents = static_cast<double>(outcome.agent_stats.size());
  return sum > 0 ? most * agents / sum : 0;
}

Sample Simulate(const std::string& job, const Mode& mode, int agents,
                uint64_t seed) {
  SimOptions sim;
  sim.agents = agents;
  sim.seed = seed;
  sim.job.search_only = mode.search_only;
  sim.job.claims = mode.claims;
  const SimOutcome outcome =
      Cluster(sim, job, [](const Job& loaded) {
        return dsl::LoadKernels(loaded, Registry(), nullptr);
      }).Run();
  DOGGED_CHECK(outcome.status.ok()) << outcome.status.ToString();
  const JobStats& stats = outcome.stats;
  const auto remote = static_cast<double>(stats.bytes_read_remote);
  const auto local = static_cast<double>(stats.bytes_read_local);
  return {.waste = static_cast<double>(stats.tasks_executed) /
                   static_cast<double>(outcome.tasks_needed),
          .seconds = absl::ToDoubleSeconds(outcome.elapsed),
          .remote = 100 * remote / (remote + local),
          .tasks = MaxToMean(outcome, &JobStats::tasks_executed),
          .labels = MaxToMean(outcome, &JobStats::tasks_done)};
}

double MedianOf(const std::vector<Sample>& samples, double Sample::*figure) {
  std::vector<double> figures;
  for (const Sample& sample : samples) figures.push_back(sample.*figure);
  return Median(std::move(figures));
}

}  // namespace

std::vector<BenchRow> BenchSearch(const BenchOptions& options) {
  const std::string job = EncodedJob(options.n > 0 ? options.n : kTileRows);
  std::vector<BenchRow> rows;
  for (const Mode& mode : kModes) {
    if (!options.only.Takes(mode.name)) continue;
    double alone = 0;
    for (const int agents : {1, 2, 4, 8, 16}) {
      std::vector<Sample> samples;
      for (int seed = 1; seed <= options.samples; ++seed) {
        samples.push_back(
            Simulate(job, mode, agents, static_cast<uint64_t>(seed)));
      }
      const double seconds = MedianOf(samples, &Sample::seconds);
      if (agents == 1) alone = seconds;
      const auto add = [&](const char* figure, double value, const char* unit) {
        rows.push_back(
            {.name = absl::StrCat(mode.name, "_", agents, "_", figure),
             .value = value,
             .unit = unit,
             .samples = options.samples});
      };
      add("executed", MedianOf(samples, &Sample::waste), "per needed");
      add("speedup", alone / seconds, "of 1 agent");
      if (agents == 1) continue;
      add("remote_reads", MedianOf(samples, &Sample::remote), "% of bytes");
      add("tasks_of_busiest", MedianOf(samples, &Sample::tasks), "of mean");
      add("labels_of_largest", MedianOf(samples, &Sample::labels), "of mean");
    }
  }
  return rows;
}

}  // namespace dogged

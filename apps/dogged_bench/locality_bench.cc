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
#include "runtime/exec/kernels/kernel_library.h"
#include "runtime/sim/cluster.h"

namespace dogged {
namespace {

struct Placed {
  std::string name;
  std::string file;  // in apps/
  dsl::ParameterValues parameters;
};

KernelRegistry Registry() {
  KernelRegistry out;
  AddBlasKernels(out);
  return out;
}

absl::StatusOr<KernelTable> LoadCompiled(const Job& job) {
  return dsl::LoadKernels(
      job, Registry(),
      [](absl::string_view source) -> absl::StatusOr<dsl::FindSymbol> {
        auto symbols =
            KernelCompiler({.compiler = "cc",
                            .cache_directory = KernelCacheDirectory("", "")})
                .Load(source);
        if (!symbols.ok()) return symbols.status();
        return dsl::FindSymbol(*symbols);
      });
}

Job JobFor(const Placed& placed, int agents) {
  const std::string path = absl::StrCat(DOGGED_APPS_DIR, "/", placed.file);
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  dsl::CompileOptions compile;
  compile.file = placed.file;
  compile.parameters = placed.parameters;
  compile.analyze = dsl::AnalyzeWithIsl;
  compile.target = {.agents = agents, .workers = 1};
  dsl::Diagnostics diagnostics("", "");
  auto job = dsl::Compile(text.str(), compile, Registry(), diagnostics);
  DOGGED_CHECK(job.ok()) << path << ": " << diagnostics.ToString()
                         << job.status().ToString();
  return *std::move(job);
}

// The same job, each label placed by a hash of all of it, as a plain
// distributed hash table would: no rows, no slabs.
Job Hashed(Job job) {
  for (size_t a = 0; a < job.program.arrays.size(); ++a) {
    Array& array = job.program.arrays[a];
    array.affinity_group = static_cast<int32_t>(a);
    array.affinity_block.assign(static_cast<size_t>(array.rank), 1);
    array.version_index = -1;
  }
  return job;
}

void AddRow(const std::string& name, const Job& job,
            const BenchOptions& options, std::vector<BenchRow>& rows) {
  const std::string encoded = job.Encode();
  std::vector<double> shares;
  for (int sample = 0; sample < options.samples; ++sample) {
    SimOptions sim;
    sim.agents = options.agents;
    sim.seed = static_cast<uint64_t>(sample) + 1;
    const SimOutcome outcome = Cluster(sim, encoded, LoadCompiled).Run();
    DOGGED_CHECK(outcome.status.ok()) << name << outcome.status.ToString();
    const auto remote = static_cast<double>(outcome.stats.bytes_read_remote);
    const auto local = static_cast<double>(outcome.stats.bytes_read_local);
    shares.push_back(100 * remote / (remote + local));
  }
  BenchRow row{.name = name, .value = Median(shares), .unit = "% of bytes"};
  row.samples = options.samples;
  if (!rows.empty() && row.name.find("hashed") != std::string::npos) {
    row.ratio_to = rows.back().name;
    row.ratio = rows.back().value > 0 ? row.value / rows.back().value : 0;
  }
  rows.push_back(std::move(row));
}

}  // namespace

std::vector<BenchRow> BenchLocality(const BenchOptions& options) {
  const std::string n = absl::StrCat(options.n > 0 ? options.n : 2048);
  const std::vector<Placed> all = {
      {"heat2d", "heat2d/heat2d.dog", {{"N", n}, {"T", "100"}}},
      {"heat1d", "heat1d/heat1d.dog", {{"N", "200001"}, {"T", "1000"}}},
      {"cholesky", "cholesky/cholesky.dog", {{"N", n}, {"NB", "128"}}}};
  std::vector<BenchRow> rows;
  for (const Placed& placed : all) {
    if (!options.only.Takes(placed.name)) continue;
    const Job job = JobFor(placed, options.agents);
    AddRow(absl::StrCat(placed.name, "_remote_reads_affinity"), job, options,
           rows);
    AddRow(absl::StrCat(placed.name, "_remote_reads_hashed"), Hashed(job),
           options, rows);
  }
  return rows;
}

}  // namespace dogged

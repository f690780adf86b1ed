#include <fstream>
#include <set>
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

// Tiles of L that a 2-D block-cyclic layout of `rows` x `rows` hosts sends, in
// a Cholesky factorization of n x n tiles: tile (i)(k) to those hosts that have
// tiles of row i, right of column k, or of column i.
int64_t BlockCyclicCholesky(int64_t n, int64_t rows) {
  int64_t out = 0;
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t i = k; i < n; ++i) {
      std::set<std::pair<int64_t, int64_t>> hosts;
      // The factor of a column goes to its panel.
      if (i == k) {
        for (int64_t r = k + 1; r < n; ++r) hosts.insert({r % rows, k % rows});
      } else {
        for (int64_t j = k + 1; j <= i; ++j) hosts.insert({i % rows, j % rows});
        for (int64_t r = i; r < n; ++r) hosts.insert({r % rows, i % rows});
      }
      hosts.erase({i % rows, k % rows});
      out += std::ssize(hosts);
    }
  }
  return out;
}

// Bytes that a Cholesky of 64 x 64 tiles publishes between `rows` x `rows`
// simulated hosts, over those of the 2-D block-cyclic layout.
void AddCholeskyVolume(int64_t rows, const BenchOptions& options,
                       std::vector<BenchRow>& out) {
  constexpr int64_t kTiles = 64;
  constexpr int64_t kTileBytes = 64 * 64 * 8;
  const std::string name = absl::StrCat("cholesky_64_volume_", rows * rows);
  if (!options.only.Takes(name)) return;
  const auto agents = static_cast<int>(rows * rows);
  const Job job = JobFor({.name = name,
                          .file = "cholesky/cholesky.dog",
                          .parameters = {{"N", "4096"}, {"NB", "64"}}},
                         agents);
  SimOptions sim;
  sim.agents = agents;
  sim.hosts = agents;
  sim.job.replicas = 1;
  // No copies at all: those of every 16th version are no matter of placement.
  sim.job_limits.generation_interval = 2 * kTiles;
  // As long for each byte as with tiles of 336 on one core of 40 GF/s.
  sim.task_time = absl::Microseconds(80);
  sim.seed = 1;
  const SimOutcome outcome = Cluster(sim, job.Encode(), LoadCompiled).Run();
  DOGGED_CHECK(outcome.status.ok()) << name << outcome.status.ToString();
  const auto least =
      static_cast<double>(BlockCyclicCholesky(kTiles, rows) * kTileBytes);
  const auto sent = static_cast<double>(outcome.stats.publication_bytes);
  out.push_back({.name = name,
                 .value = sent / 1e6,
                 .unit = "MB",
                 .samples = 1,
                 .ratio_to = "2-D block-cyclic",
                 .ratio = sent / least});
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
  for (const int64_t side : {4, 8}) AddCholeskyVolume(side, options, rows);
  return rows;
}

}  // namespace dogged

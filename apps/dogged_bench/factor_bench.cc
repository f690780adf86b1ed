#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged_bench/agents_run.h"
#include "apps/dogged_bench/bench.h"
#include "apps/dogged_bench/cholesky_program.h"
#include "apps/dogged_bench/factor_run.h"
#include "apps/dogged_bench/peers/lapack.h"
#include "apps/dogged_bench/peers/openmp.h"
#include "apps/dogged_bench/plain_tiles.h"
#include "apps/tiles/blas_kernels.h"
#include "runtime/base/check.h"
#ifdef DOGGED_STARPU_PEER
#include "apps/dogged_bench/peers/starpu.h"
#endif

namespace dogged {
namespace {

constexpr int kSearchSamples = 3;

// Contender: runs the same work, in tiles of `tile_size` or without tiles, and
// gives the seconds of a run.
struct Contender {
  std::string name;
  bool has_tiles = true;
  std::function<double(int64_t tile_size)> run;
  // Where the time of such runs went; may be empty.
  std::function<std::vector<BenchRow>(int64_t tile_size)> profile;
  // Seconds that its kernels alone would take; may be empty.
  std::function<double(int64_t tile_size)> kernel_bound;
};

struct Contest {
  std::string name;
  double flops = 0;
  std::vector<int64_t> tile_sizes;
  std::vector<Contender> contenders;  // ours first
};

int64_t BestOf(const std::map<int64_t, double>& rates) {
  return std::max_element(
             rates.begin(), rates.end(),
             [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// The best tile size of each contender; rows for all that were tried.
std::vector<int64_t> Search(const Contest& contest, const BenchOptions& options,
                            std::vector<BenchRow>& rows) {
  const std::vector<int64_t>& sizes =
      options.tile_sizes.empty() ? contest.tile_sizes : options.tile_sizes;
  std::vector<std::map<int64_t, double>> rates(contest.contenders.size());
  for (const int64_t size : sizes) {
    std::vector<std::vector<double>> found(contest.contenders.size());
    for (int i = 0; i < kSearchSamples; ++i) {
      for (size_t c = 0; c < contest.contenders.size(); ++c) {
        if (!contest.contenders[c].has_tiles) continue;
        found[c].push_back(contest.flops / contest.contenders[c].run(size) *
                           1e-9);
      }
    }
    for (size_t c = 0; c < contest.contenders.size(); ++c) {
      if (found[c].empty()) continue;
      rates[c][size] = Median(found[c]);
      rows.push_back(
          {.name = absl::StrCat(contest.contenders[c].name, "_nb", size),
           .value = rates[c][size],
           .unit = "GF/s",
           .samples = kSearchSamples});
    }
  }
  std::vector<int64_t> best;
  for (const auto& by_size : rates) {
    best.push_back(by_size.empty() ? 0 : BestOf(by_size));
  }
  return best;
}

std::vector<BenchRow> Measure(Contest contest, const BenchOptions& options) {
  // Ours always runs.
  contest.contenders.erase(
      std::remove_if(contest.contenders.begin() + 1, contest.contenders.end(),
                     [&](const Contender& contender) {
                       return !options.only.Takes(contender.name);
                     }),
      contest.contenders.end());
  std::vector<BenchRow> rows;
  const double before = DgemmRate(options.workers);
  const std::vector<int64_t> best = Search(contest, options, rows);
  std::vector<std::vector<double>> rates(contest.contenders.size());
  for (int i = 0; i < options.samples; ++i) {
    for (size_t c = 0; c < rates.size(); ++c) {
      rates[c].push_back(contest.flops / contest.contenders[c].run(best[c]) *
                         1e-9);
    }
  }
  const double after = DgemmRate(options.workers);
  const double peak = std::max(before, after);
  rows.push_back({"dgemm_before", before, "GF/s", 3, "", 0});
  rows.push_back({"dgemm_after", after, "GF/s", 3, "", 0});
  for (size_t c = 0; c < rates.size(); ++c) {
    rows.push_back({contest.contenders[c].name, Median(rates[c]), "GF/s",
                    options.samples, "dgemm", Median(rates[c]) / peak});
  }
  for (size_t c = 0; c < rates.size(); ++c) {
    if (!contest.contenders[c].profile) continue;
    for (BenchRow& row : contest.contenders[c].profile(best[c])) {
      rows.push_back(std::move(row));
    }
  }
  if (contest.contenders[0].kernel_bound) {
    const std::string bound = contest.name + "_kernel_bound";
    const double rate =
        contest.flops / contest.contenders[0].kernel_bound(best[0]) * 1e-9;
    rows.push_back(
        {.name = bound, .value = rate, .unit = "GF/s", .samples = 1});
    rows.push_back({contest.name + "_to_kernel_bound", Median(rates[0]), "GF/s",
                    options.samples, bound, Median(rates[0]) / rate});
  }
  for (size_t c = 1; c < rates.size(); ++c) {
    // Sample by sample: a neighbour on this computer slows both of a pair.
    std::vector<double> ratios;
    for (size_t i = 0; i < rates[c].size(); ++i) {
      ratios.push_back(rates[0][i] / rates[c][i]);
    }
    rows.push_back(
        {absl::StrCat(contest.name, "_to_", contest.contenders[c].name),
         Median(rates[0]), "GF/s", options.samples, contest.contenders[c].name,
         Median(ratios)});
  }
  return rows;
}

// Rates of kernels as they ran, on one core each, and the workers' other time.
std::vector<BenchRow> ProfileOf(const std::string& name, const FactorRun& run) {
  std::vector<BenchRow> rows;
  double busy = 0;
  for (const auto& [kernel, time] : run.kernel_times()) {
    busy += time.seconds;
    if (time.flops == 0) continue;
    rows.push_back({.name = absl::StrCat(name, "_in_", kernel),
                    .value = time.flops / time.seconds * 1e-9,
                    .unit = "GF/s",
                    .samples = 1,
                    .ratio_to = "worker time",
                    .ratio = time.seconds / run.worker_seconds()});
  }
  rows.push_back({.name = absl::StrCat(name, "_outside_kernels"),
                  .value = 100 * (1 - busy / run.worker_seconds()),
                  .unit = "% of worker time",
                  .samples = 1});
  return rows;
}

// Our run of apps/NAME, compiled once for each tile size.
Contender Ours(const std::string& name, int64_t n, int workers,
               const KernelRegistry& registry) {
  auto runs = std::make_shared<std::map<int64_t, std::unique_ptr<FactorRun>>>();
  const auto run = [=, &registry](int64_t tile_size) {
    std::unique_ptr<FactorRun>& at_size = (*runs)[tile_size];
    if (at_size == nullptr) {
      at_size = std::make_unique<FactorRun>(name, n, tile_size, registry);
    }
    return at_size->Run(workers);
  };
  const auto profile = [=](int64_t tile_size) {
    return ProfileOf(name, *runs->at(tile_size));
  };
  const auto kernel_bound = [=](int64_t tile_size) {
    return runs->at(tile_size)->KernelBoundSeconds(workers);
  };
  return {.name = name,
          .run = run,
          .profile = profile,
          .kernel_bound = kernel_bound};
}

#ifdef DOGGED_SCALAPACK_PEER
// A process for each worker, with the kernels that we have chosen.
double ScalapackSeconds(int64_t n, int64_t tile_size, int workers) {
  const std::string core = BlasName().substr(BlasName().rfind(' ') + 1);
  return SecondsOf(absl::StrCat(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun "
      "--oversubscribe -x OPENBLAS_NUM_THREADS=1 -x OPENBLAS_CORETYPE=",
      core, " -n ", workers, " " DOGGED_SCALAPACK_PEER " potrf ", n, " ",
      tile_size, " ", workers, " 2>/dev/null"));
}
#endif

Contender Lapack(const std::string& name, int64_t n, int workers,
                 bool symmetric,
                 double (*run)(int64_t, std::vector<double>&, int)) {
  auto matrix =
      std::make_shared<const std::vector<double>>(LapackMatrix(n, symmetric));
  return {.name = name, .has_tiles = false, .run = [=](int64_t) {
            std::vector<double> a = *matrix;
            return run(n, a, workers);
          }};
}

// Adds the Cholesky peers that Debian has and that were found when this was
// built.
void AddTiledPeers(int64_t n, int workers, std::vector<Contender>& contenders) {
  contenders.push_back({.name = "openmp_plain", .run = [=](int64_t tile_size) {
                          PlainTiles tiles(n, tile_size);
                          return Seconds(
                              [&] { OpenMpPlainCholesky(tiles, workers); });
                        }});
#ifdef DOGGED_STARPU_PEER
  contenders.push_back({.name = "starpu", .run = [=](int64_t tile_size) {
                          PlainTiles tiles(n, tile_size);
                          return StarpuCholesky(tiles, workers);
                        }});
#endif
#ifdef DOGGED_SCALAPACK_PEER
  contenders.push_back({.name = "scalapack", .run = [=](int64_t tile_size) {
                          return ScalapackSeconds(n, tile_size, workers);
                        }});
#endif
}

KernelRegistry TileKernels() {
  KernelRegistry out;
  AddBlasKernels(out);
  return out;
}

}  // namespace

std::vector<BenchRow> BenchCholesky(const BenchOptions& options) {
  const int64_t n = options.n > 0 ? options.n : 4096;
  const int workers = options.workers;
  const KernelRegistry registry = TileKernels();
  const auto order = static_cast<double>(n);
  const auto openmp = [&](int64_t tile_size) {
    const auto tile_rows = static_cast<int>((n + tile_size - 1) / tile_size);
    std::vector<Value> tiles = GenerateTiles(n, tile_size, registry);
    return Seconds(
        [&] { OpenMpCholesky(tiles, tile_rows, registry, workers); });
  };
  Contest contest{.name = "cholesky",
                  .flops = order * order * order / 3,
                  .tile_sizes = {144, 192, 240, 336, 384}};
  contest.contenders.push_back(Ours("cholesky", n, workers, registry));
  if (!options.alone) {
    contest.contenders.push_back({.name = "openmp", .run = openmp});
    AddTiledPeers(n, workers, contest.contenders);
    contest.contenders.push_back(
        Lapack("dpotrf", n, workers, true, LapackCholesky));
  }
  return Measure(contest, options);
}

std::vector<BenchRow> BenchLu(const BenchOptions& options) {
  const int64_t n = options.n > 0 ? options.n : 4096;
  const KernelRegistry registry = TileKernels();
  const auto order = static_cast<double>(n);
  return Measure(
      {.name = "lu",
       .flops = 2 * order * order * order / 3,
       .tile_sizes = {96, 144, 192, 240, 288},
       .contenders = {Ours("lu", n, options.workers, registry),
                      Lapack("dgetrf", n, options.workers, false, LapackLu)}},
      options);
}

std::vector<BenchRow> BenchQr(const BenchOptions& options) {
  const int64_t n = options.n > 0 ? options.n : 4096;
  const KernelRegistry registry = TileKernels();
  const auto order = static_cast<double>(n);
  return Measure(
      {.name = "qr",
       .flops = 4 * order * order * order / 3,
       .tile_sizes = {48, 96, 144, 192},
       .contenders = {Ours("qr", n, options.workers, registry),
                      Lapack("dgeqrf", n, options.workers, false, LapackQr)}},
      options);
}

}  // namespace dogged

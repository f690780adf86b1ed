#include <cblas.h>

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged_bench/bench.h"
#include "apps/dogged_bench/cholesky_program.h"
#include "apps/dogged_bench/peers_openmp.h"
#include "apps/tiles/blas_kernels.h"
#include "runtime/base/check.h"
#include "runtime/exec/cpu_layout_hwloc.h"
#include "runtime/exec/local_run.h"

namespace dogged {
namespace {

constexpr int kSearchSamples = 3;

// GF/s of a dgemm of order 2048 on `threads` threads; the best of three.
double DgemmRate(int threads) {
  constexpr int kN = 2048;
  std::vector<double> a(kN * kN, 1.0);
  std::vector<double> b(kN * kN, 0.5);
  std::vector<double> c(kN * kN, 0.0);
  openblas_set_num_threads(threads);
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    const double seconds = Seconds([&] {
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, kN, kN, kN, -1.0,
                  a.data(), kN, b.data(), kN, 1.0, c.data(), kN);
    });
    best = std::max(best, 2.0 * kN * kN * kN / seconds * 1e-9);
  }
  openblas_set_num_threads(1);
  return best;
}

class Contest {
 public:
  Contest(int64_t n, int workers) : n_(n), workers_(workers) {
    AddBlasKernels(kernels_);
  }

  // GF/s of our run; the tiles are there before the clock starts.
  double Ours(int64_t tile_size) {
    const int64_t tile_rows = (n_ + tile_size - 1) / tile_size;
    std::vector<Value> tiles = GenerateTiles(n_, tile_size, kernels_);
    const Program program = CholeskyProgram(tile_rows);
    const Relations relations(program);
    const KernelTable table = CholeskyKernels(program, kernels_, tiles);
    std::vector<Value> results;
    LocalRun run(relations, table,
                 {.placement = PlaceWorkersHere(workers_),
                  .on_result = [&](const Label&, const Value& value) {
                    results.push_back(value);
                    return absl::OkStatus();
                  }});
    return Rate(Seconds([&] {
      const absl::Status status = run.Run();
      DOGGED_CHECK(status.ok()) << status.ToString();
    }));
  }
  double OpenMp(int64_t tile_size) {
    const int64_t tile_rows = (n_ + tile_size - 1) / tile_size;
    std::vector<Value> tiles = GenerateTiles(n_, tile_size, kernels_);
    return Rate(Seconds([&] {
      OpenMpCholesky(tiles, static_cast<int>(tile_rows), kernels_, workers_);
    }));
  }

 private:
  double Rate(double seconds) const {
    const auto n = static_cast<double>(n_);
    return n * n * n / 3 / seconds * 1e-9;
  }
  const int64_t n_;
  const int workers_;
  KernelRegistry kernels_;
};

int64_t BestOf(const std::map<int64_t, double>& rates) {
  return std::max_element(
             rates.begin(), rates.end(),
             [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

}  // namespace

std::vector<BenchRow> BenchCholesky(const BenchOptions& options) {
  const int64_t n = options.n > 0 ? options.n : 4096;
  const std::vector<int64_t> sizes =
      options.tile_sizes.empty() ? std::vector<int64_t>{256, 320, 384, 512}
                                 : options.tile_sizes;
  Contest contest(n, options.workers);
  std::vector<BenchRow> rows;
  const double before = DgemmRate(options.workers);
  std::map<int64_t, double> ours_at;
  std::map<int64_t, double> openmp_at;
  for (const int64_t size : sizes) {
    std::vector<double> ours;
    std::vector<double> openmp;
    for (int i = 0; i < kSearchSamples; ++i) {
      ours.push_back(contest.Ours(size));
      openmp.push_back(contest.OpenMp(size));
    }
    ours_at[size] = Median(ours);
    openmp_at[size] = Median(openmp);
    for (const auto& [name, rates] :
         {std::pair("cholesky", &ours_at), {"openmp", &openmp_at}}) {
      rows.push_back({.name = absl::StrCat(name, "_nb", size),
                      .value = rates->at(size),
                      .unit = "GF/s",
                      .samples = kSearchSamples});
    }
  }
  std::vector<double> ours;
  std::vector<double> openmp;
  for (int i = 0; i < options.samples; ++i) {
    ours.push_back(contest.Ours(BestOf(ours_at)));
    openmp.push_back(contest.OpenMp(BestOf(openmp_at)));
  }
  // Pair by pair: a neighbour on this machine slows both of a pair.
  std::vector<double> ratios;
  for (size_t i = 0; i < ours.size(); ++i) {
    ratios.push_back(ours[i] / openmp[i]);
  }
  const double after = DgemmRate(options.workers);
  const double peak = std::max(before, after);
  rows.push_back({"dgemm_before", before, "GF/s", 3, "", 0});
  rows.push_back({"dgemm_after", after, "GF/s", 3, "", 0});
  rows.push_back({"openmp", Median(openmp), "GF/s", options.samples, "dgemm",
                  Median(openmp) / peak});
  rows.push_back({"cholesky", Median(ours), "GF/s", options.samples, "dgemm",
                  Median(ours) / peak});
  rows.push_back({"cholesky_to_openmp", Median(ours), "GF/s", options.samples,
                  "openmp", Median(ratios)});
  return rows;
}

}  // namespace dogged

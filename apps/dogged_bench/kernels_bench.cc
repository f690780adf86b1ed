#include <cblas.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged_bench/bench.h"
#include "apps/dogged_bench/peers_lapack.h"
#include "apps/tiles/blas.h"
#include "apps/tiles/triangle.h"

namespace dogged {
namespace {

struct Contender {
  std::string name;
  double flops = 0;
  std::function<void()> run;
  std::string peer;  // the row that it is compared with
};

}  // namespace

std::vector<BenchRow> BenchKernels(const BenchOptions& options) {
  const std::vector<int64_t> sizes = options.tile_sizes.empty()
                                         ? std::vector<int64_t>{128, 256, 320}
                                         : options.tile_sizes;
  const int calls = std::max(options.samples, 50);
  std::vector<BenchRow> rows;
  for (const int64_t n : sizes) {
    const std::vector<double> spd = LapackMatrix(n, /*symmetric=*/true);
    std::vector<double> a = LapackMatrix(n, /*symmetric=*/false);
    std::vector<double> l = spd;
    std::vector<double> c = spd;
    const blas::Matrix tile{c.data(), n};
    const blas::Matrix left{a.data(), n};
    const blas::Matrix triangle{l.data(), n};
    const int order = static_cast<int>(n);
    const auto fresh = [&] { std::copy(spd.begin(), spd.end(), c.begin()); };
    const auto cube = static_cast<double>(n * n * n);
    const auto at = [n](const char* name) {
      return absl::StrCat(name, "_", n);
    };
    // Tiles that no cache holds, as tasks find them.
    std::vector<std::vector<double>> cold(
        static_cast<size_t>(256 * 1024 * 1024 / (8 * n * n)), spd);
    size_t next = 0;
    const auto another = [&] {
      next = (next + 7) % cold.size();
      return blas::Matrix{cold[next].data(), n};
    };
    const Contender kernels[] = {
        {at("gemm_cold"), 2 * cube,
         [&] {
           blas::ProductTransposed({n, n, n}, -1, another(), another(), 1,
                                   another());
         }},
        {at("gemm"), 2 * cube,
         [&] {
           blas::ProductTransposed({n, n, n}, -1, left, left, 1, tile);
         }},
        {at("syrk"), cube, [&] { blas::SubtractSquare(n, n, left, tile); },
         at("gemm")},
        {at("trsm_openblas"), cube,
         [&] {
           cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans,
                       CblasNonUnit, order, order, 1, l.data(), order, c.data(),
                       order);
         },
         at("gemm")},
        {at("trsm"), cube, [&] { SolveRightTransposed(n, n, triangle, tile); },
         at("trsm_openblas")},
        {at("potrf_openblas"), cube / 3, [&] { LapackCholesky(n, c, 1); },
         at("gemm")},
        {at("potrf"), cube / 3, [&] { FactorCholesky(n, tile); },
         at("potrf_openblas")}};
    for (const Contender& kernel : kernels) {
      std::vector<double> rates;
      for (int i = 0; i < calls; ++i) {
        fresh();
        rates.push_back(kernel.flops / Seconds(kernel.run) * 1e-9);
      }
      BenchRow row{.name = kernel.name,
                   .value = Median(rates),
                   .unit = "GF/s",
                   .samples = calls};
      for (const BenchRow& other : rows) {
        if (other.name != kernel.peer) continue;
        row.ratio_to = other.name;
        row.ratio = row.value / other.value;
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace dogged

#include <cblas.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged_bench/bench.h"
#include "apps/dogged_bench/peers/lapack.h"
#include "apps/tiles/blas.h"
#include "apps/tiles/triangle.h"

namespace dogged {
namespace {

// More than the caches of a core, and than its share of a common one.
constexpr int64_t kColdBytes = 256 << 20;

// Operands of the kernels: n x n each.
struct Tiles {
  explicit Tiles(int64_t size)
      : n(size),
        spd(LapackMatrix(n, /*symmetric=*/true)),
        a(LapackMatrix(n, /*symmetric=*/false)),
        l(spd),
        c(spd),
        cold(static_cast<size_t>(kColdBytes / (8 * n * n)), spd) {}

  // A tile that no cache holds, as tasks of a large matrix find theirs.
  blas::Matrix Cold() {
    next = (next + 7) % cold.size();
    return {cold[next].data(), n};
  }

  int64_t n;
  std::vector<double> spd;
  std::vector<double> a;
  std::vector<double> l;
  std::vector<double> c;
  std::vector<std::vector<double>> cold;
  size_t next = 0;
};

struct Contender {
  std::string name;
  double flops = 0;
  std::function<void()> run;
  std::string peer;  // the row that it is compared with
};

std::vector<Contender> ContendersOf(Tiles& t) {
  const int64_t n = t.n;
  const blas::Matrix tile{t.c.data(), n};
  const blas::Matrix left{t.a.data(), n};
  const blas::Matrix triangle{t.l.data(), n};
  const auto cube = static_cast<double>(n * n * n);
  const auto at = [n](const char* name) { return absl::StrCat(name, "_", n); };
  return {
      {at("gemm"), 2 * cube,
       [=] {
         blas::ProductTransposed({n, n, n}, -1, left, left, 1, tile);
       }},
      {at("gemm_cold"), 2 * cube,
       [n, &t] {
         blas::ProductTransposed({n, n, n}, -1, t.Cold(), t.Cold(), 1,
                                 t.Cold());
       },
       at("gemm")},
      {at("syrk"), cube, [=] { blas::SubtractSquare(n, n, left, tile); },
       at("gemm")},
      {at("trsm_openblas"), cube,
       [&t] {
         const int order = static_cast<int>(t.n);
         cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans,
                     CblasNonUnit, order, order, 1, t.l.data(), order,
                     t.c.data(), order);
       },
       at("gemm")},
      {at("trsm"), cube, [=] { SolveRightTransposed(n, n, triangle, tile); },
       at("trsm_openblas")},
      {at("potrf_openblas"), cube / 3, [&t] { LapackCholesky(t.n, t.c, 1); },
       at("gemm")},
      {at("potrf"), cube / 3, [=] { FactorCholesky(n, tile); },
       at("potrf_openblas")}};
}

}  // namespace

std::vector<BenchRow> BenchKernels(const BenchOptions& options) {
  const std::vector<int64_t> sizes = options.tile_sizes.empty()
                                         ? std::vector<int64_t>{128, 256, 320}
                                         : options.tile_sizes;
  const int calls = std::max(options.samples, 50);
  std::vector<BenchRow> rows;
  for (const int64_t n : sizes) {
    Tiles tiles(n);
    for (const Contender& kernel : ContendersOf(tiles)) {
      std::vector<double> rates;
      for (int i = 0; i < calls; ++i) {
        std::copy(tiles.spd.begin(), tiles.spd.end(), tiles.c.begin());
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

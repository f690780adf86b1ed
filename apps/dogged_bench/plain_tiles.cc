#include "apps/dogged_bench/plain_tiles.h"

#include <cblas.h>

#include <algorithm>

#include "runtime/base/check.h"
#include "runtime/base/random.h"

// Debian's OpenBLAS has the LAPACK routines but no header for them.
extern "C" void dpotrf_(const char* uplo, const int* n, double* a,
                        const int* lda, int* info);

namespace dogged {

PlainTiles::PlainTiles(int64_t n, int64_t tile_size)
    : n_(n),
      tile_size_(tile_size),
      rows_(static_cast<int>((n + tile_size - 1) / tile_size)) {
  Rng rng(1);
  for (int i = 0; i < rows_; ++i) {
    for (int j = 0; j <= i; ++j) {
      std::vector<double> tile(static_cast<size_t>(extent(i) * extent(j)));
      for (double& x : tile) x = rng.Unit() - 0.5;
      for (int d = 0; i == j && d < extent(i); ++d) {
        tile[d * (extent(i) + 1)] = static_cast<double>(n);
      }
      tiles_.push_back(std::move(tile));
    }
  }
}

int PlainTiles::extent(int i) const {
  return static_cast<int>(std::min(tile_size_, n_ - i * tile_size_));
}

void PlainPotrf(int n, double* a) {
  int info = 0;
  dpotrf_("L", &n, a, &n, &info);
  DOGGED_CHECK(info == 0) << info;
}

void PlainTrsm(int m, int n, const double* l, double* a) {
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
              m, n, 1.0, l, n, a, m);
}

void PlainSyrk(int n, int k, const double* a, double* c) {
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, -1.0, a, n, 1.0, c,
              n);
}

void PlainGemm(int m, int n, int k, const double* a, const double* b,
               double* c) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, n, k, -1.0, a, m, b,
              n, 1.0, c, m);
}

}  // namespace dogged

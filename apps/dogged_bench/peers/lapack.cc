#include "apps/dogged_bench/peers/lapack.h"

#include <cblas.h>

#include <algorithm>
#include <functional>

#include "apps/dogged_bench/report.h"
#include "runtime/base/check.h"
#include "runtime/base/random.h"

// Debian's OpenBLAS has the LAPACK routines but no header for them.
extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda,
             int* info);
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* pivots,
             int* info);
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau,
             double* work, const int* work_size, int* info);
}

namespace dogged {
namespace {

double Timed(int threads, const std::function<void()>& run) {
  openblas_set_num_threads(threads);
  const double seconds = Seconds(run);
  openblas_set_num_threads(1);
  return seconds;
}

}  // namespace

std::vector<double> LapackMatrix(int64_t n, bool symmetric) {
  Rng rng(1);
  std::vector<double> a(static_cast<size_t>(n * n));
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = symmetric ? j : 0; i < n; ++i) {
      const double x = rng.Unit() - 0.5;
      a[j * n + i] = x;
      if (symmetric) a[i * n + j] = x;
    }
    if (symmetric) {
      a[j * n + j] += static_cast<double>(n);
    }
  }
  return a;
}

double LapackCholesky(int64_t n, std::vector<double>& a, int threads) {
  const int order = static_cast<int>(n);
  int info = 0;
  const double seconds =
      Timed(threads, [&] { dpotrf_("L", &order, a.data(), &order, &info); });
  DOGGED_CHECK(info == 0) << info;
  return seconds;
}

double LapackLu(int64_t n, std::vector<double>& a, int threads) {
  const int order = static_cast<int>(n);
  std::vector<int> pivots(static_cast<size_t>(n));
  int info = 0;
  const double seconds = Timed(threads, [&] {
    dgetrf_(&order, &order, a.data(), &order, pivots.data(), &info);
  });
  DOGGED_CHECK(info == 0) << info;
  return seconds;
}

double LapackQr(int64_t n, std::vector<double>& a, int threads) {
  const int order = static_cast<int>(n);
  const int work_size = order * 64;
  std::vector<double> tau(static_cast<size_t>(n));
  std::vector<double> work(static_cast<size_t>(work_size));
  int info = 0;
  const double seconds = Timed(threads, [&] {
    dgeqrf_(&order, &order, a.data(), &order, tau.data(), work.data(),
            &work_size, &info);
  });
  DOGGED_CHECK(info == 0) << info;
  return seconds;
}

double DgemmRate(int threads) {
  constexpr int kN = 2048;
  std::vector<double> a(kN * kN, 1.0);
  std::vector<double> b(kN * kN, 0.5);
  std::vector<double> c(kN * kN, 0.0);
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    const double seconds = Timed(threads, [&] {
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, kN, kN, kN, -1.0,
                  a.data(), kN, b.data(), kN, 1.0, c.data(), kN);
    });
    best = std::max(best, 2.0 * kN * kN * kN / seconds * 1e-9);
  }
  return best;
}

}  // namespace dogged

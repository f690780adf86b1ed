// The same work by LAPACK as OpenBLAS has it, on several threads, in place and
// without tiles: a peer of the benchmark, and for it alone.
#ifndef DOGGED_APPS_DOGGED_BENCH_PEERS_LAPACK_H_
#define DOGGED_APPS_DOGGED_BENCH_PEERS_LAPACK_H_

#include <cstdint>
#include <vector>

namespace dogged {

// n x n, column by column; a symmetric one for Cholesky, with n added to its
// diagonal.
std::vector<double> LapackMatrix(int64_t n, bool symmetric);

// Seconds of dpotrf, dgetrf, dgeqrf on `threads` threads; `a` is overwritten.
double LapackCholesky(int64_t n, std::vector<double>& a, int threads);
double LapackLu(int64_t n, std::vector<double>& a, int threads);
double LapackQr(int64_t n, std::vector<double>& a, int threads);

// GF/s of a dgemm of order 2048 on `threads` threads; the best of three.
double DgemmRate(int threads);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_PEERS_LAPACK_H_

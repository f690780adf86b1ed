// The tile kernels of dense factorisations, by name, over OpenBLAS (adapter).
// Tiles are row-major and of any shape that fits the formula; they hold
// doubles, or floats, for which each kernel has a variant (float_kernels.h).
// Thread-safe; deterministic for one numeric class and one BLAS thread.
//
//   spd(out a, row, column, n)         tile of a symmetric positive definite
//                                      n x n matrix, from (row, column) on
//   general(out a, row, column)        tile of a matrix of numbers between -0.5
//                                      and 0.5, from (row, column) on
//   potrf(in a, out l)                 a = l * l', l lower triangular
//   trsm(in l, in a, out r)            r = a * inverse(l)'
//   syrk(in c, in a, out r)            r = c - a * a', lower triangle
//   gemm(in c, in a, in b, out r)      r = c - a * b'
//
// Only the lower triangle of potrf's a, and of syrk's c and r, has a meaning;
// syrk leaves the rest of c as it is, potrf sets the rest of l to zero. Kernels
// of LU and QR, and those that solve: lu_kernels.h, qr_kernels.h and
// solve_kernels.h.
#ifndef DOGGED_APPS_TILES_BLAS_KERNELS_H_
#define DOGGED_APPS_TILES_BLAS_KERNELS_H_

#include <string>

#include "absl/status/status.h"
#include "runtime/graph/kernel.h"

namespace dogged {

// Adds all of them; SetUpBlas() came before. Each updates its last-updated
// input in place where nobody else holds it.
//
// Errors of the kernels: kInvalidArgument for shapes that do not fit, and from
//         potrf for a matrix that is not positive definite ("pivot 17 ...",
//         counted from 0 within the tile; a NaN there is one too).
void AddBlasKernels(KernelRegistry& registry);

// Once a process, before BlasName() and the first kernel: see blas::SetUp().
absl::Status SetUpBlas();
// For so many workers that run kernels at a time: see blas::Reserve().
absl::Status ReserveBlas(int workers);

// "OpenBLAS 0.3.21 Haswell": version and the core whose kernels it chose.
std::string BlasName();

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_BLAS_KERNELS_H_

// Triangular solves and Cholesky within one tile. Solves are products that keep
// a block of the unknowns in registers; the small triangles on the diagonal are
// inverted, so that a solve with them is a product too. Cholesky halves the
// tile. Times of OpenBLAS's dtrsm and dpotrf: ADR-23.
//
// Error: the inverse of a triangle of at most 16 rows stands in for its solve,
// so the residual of a solve grows by at most that triangle's condition; for
// the factors of the test matrices it is a few units of the last place, as
// with dtrsm (see tests/tiles).
// Matrices are row-major. Thread-safe, deterministic.
#ifndef DOGGED_APPS_TILES_TRIANGLE_H_
#define DOGGED_APPS_TILES_TRIANGLE_H_

#include <cstdint>
#include <optional>

#include "apps/tiles/blas.h"
#include "apps/tiles/micro_kernels.h"

namespace dogged {

// Rows of the triangles in which Cholesky's recursion ends.
inline constexpr int64_t kTriangle = 32;

enum class Diagonal { kStored, kUnit };

// x = x * inverse(l)', x being m x n and l lower triangular n x n.
void SolveRightTransposed(int64_t m, int64_t n, blas::ConstMatrix l,
                          blas::Matrix x,
                          const MicroKernels& kernels = blas::OwnKernels());
// x = inverse(l) * x, x being m x n and l lower triangular m x m.
void SolveLeft(int64_t m, int64_t n, blas::ConstMatrix l, Diagonal diagonal,
               blas::Matrix x,
               const MicroKernels& kernels = blas::OwnKernels());

// a = l * l' in the lower triangle of a, n x n; elements above are not read.
// Returns the first pivot that is not positive and finite, if there is one:
// then a has no meaning.
std::optional<int64_t> FactorCholesky(int64_t n, blas::Matrix a);

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_TRIANGLE_H_

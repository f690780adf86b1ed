// Householder reflectors in the compact WY form, as products of matrices:
//   q = h(0) h(1) ... h(n-1) = i - v * t * v'
// with v (m x n, m >= n) unit lower triangular and t (n x n) upper triangular.
// Row-major. Thread-safe, deterministic.
// Source: Schreiber and Van Loan 1989; recursion as in Elmroth and Gustavson
// 2000.
#ifndef DOGGED_APPS_TILES_REFLECTORS_H_
#define DOGGED_APPS_TILES_REFLECTORS_H_

#include <cstdint>
#include <optional>

#include "apps/tiles/blas.h"

namespace dogged {

struct QrFailure {
  int64_t column = 0;
  // The column becomes longer than the largest double; else it was not finite.
  bool overflows = false;
};

// Factors a, m x n with m >= n: a = q * r. Afterwards r stands on and above the
// diagonal of a, v below it, its diagonal of ones understood; t is filled,
// zeros below its diagonal. No step overflows where r does not. Returns the
// first column that fails, if there is one: then a and t have no meaning.
std::optional<QrFailure> FactorQr(int64_t m, int64_t n, blas::Matrix a,
                                  blas::Matrix t);

enum class Reflect { kForward, kTransposed };

// c = q * c, or q' * c; c is m x n, and q has k reflectors in v and t as
// FactorQr() leaves them (elements above the diagonal of v are not read).
// Returns the first column of c that was finite and is not any more, for it is
// longer than the largest double; none if there is none.
std::optional<int64_t> ApplyReflectors(Reflect direction,
                                       const blas::Extents& extents,
                                       blas::ConstMatrix v, blas::ConstMatrix t,
                                       blas::Matrix c);

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_REFLECTORS_H_

// LU with partial pivoting, within columns of a matrix, as products of
// matrices. Row-major. Thread-safe, deterministic.
#ifndef DOGGED_APPS_TILES_LU_H_
#define DOGGED_APPS_TILES_LU_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "apps/tiles/blas.h"

namespace dogged {

struct LuFailure {
  int64_t column = 0;
  bool is_zero = false;  // else not finite
};

// Factors a, m x n with m >= n = pivots.size(): p * a = l * u. Afterwards u
// stands on and above the diagonal of a, l below it, its diagonal of ones
// understood. pivots[j] >= j is the row that row j was exchanged with, one
// after the other; the largest of its column, so no element of l exceeds 1.
// Returns the first column whose largest element is zero or not finite, if
// there is one: then a has no meaning.
std::optional<LuFailure> FactorLu(int64_t m, blas::Matrix a,
                                  absl::Span<int64_t> pivots);

// Exchanges row j of a, which has n columns, with row pivots[j]: in order, or
// back again.
void ExchangeRows(int64_t n, absl::Span<const int64_t> pivots, blas::Matrix a);
void ExchangeRowsBack(int64_t n, absl::Span<const int64_t> pivots,
                      blas::Matrix a);

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_LU_H_

// The columns that a factorisation takes one by one, copied to where rows
// follow one another.
#ifndef DOGGED_APPS_TILES_STRIP_ROWS_H_
#define DOGGED_APPS_TILES_STRIP_ROWS_H_

#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "apps/tiles/blas.h"
#include "apps/tiles/micro_kernels.h"

namespace dogged {

struct alignas(64) StripRow : std::array<double, kStrip> {};
using StripRows = absl::Span<StripRow>;

// The first n <= kStrip columns of the m rows of `a`; zeros stand right of
// them. They are this thread's until its next call.
StripRows LoadStrip(int64_t m, int64_t n, blas::ConstMatrix a);

// The other way: the first n columns of `rows`, to `a`.
void StoreStrip(absl::Span<const StripRow> rows, int64_t n, blas::Matrix a);

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_STRIP_ROWS_H_

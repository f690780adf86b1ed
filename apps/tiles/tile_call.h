// Tiles as matrices, and checks of arguments, for all tile kernels.
#ifndef DOGGED_APPS_TILES_TILE_CALL_H_
#define DOGGED_APPS_TILES_TILE_CALL_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "apps/tiles/blas.h"
#include "runtime/base/value.h"

namespace dogged {

// Arguments of a kernel's operation count.
using Shapes = absl::Span<const Shape>;
using Scalars = absl::Span<const double>;
inline double Extent(const Shape& shape, int d) {
  return static_cast<double>(shape[d]);
}

inline int64_t RowCount(const Value& tile) { return tile.shape()[0]; }
inline int64_t ColumnCount(const Value& tile) { return tile.shape()[1]; }

// `tile` is a matrix of doubles.
inline blas::ConstMatrix MatrixOf(const Value& tile) {
  return {tile.span<double>().data(), ColumnCount(tile)};
}
inline blas::Matrix MutableMatrixOf(Value& tile) {
  return {tile.mutable_span<double>().data(), ColumnCount(tile)};
}

// kInvalidArgument unless `tile` is a matrix of doubles with `rows` rows and
// `columns` columns; -1 for any number. `name` is the kernel's word for it.
absl::Status CheckTile(const Value& tile, absl::string_view name,
                       int64_t rows = -1, int64_t columns = -1);
// No element is NaN or infinite; with `is_lower`, none on or below the
// diagonal.
bool IsFinite(const Value& tile, bool is_lower = false);
// All its elements are so small that differences between them may get lost;
// with `is_lower`, all on or below the diagonal.
bool IsTooSmall(const Value& tile, bool is_lower = false);
// kInvalidArgument unless at least `columns` rows of `tile` come from `first`
// on, which is not negative.
absl::Status CheckBlockColumn(const Value& tile, absl::string_view name,
                              int64_t first, int64_t columns);
// The same for the first argument of a kernel that factors all its columns from
// row `scalars[0]` on, by its declared shape.
absl::Status FitsBlockColumn(Shapes in, Scalars scalars);

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_TILE_CALL_H_

#include "apps/tiles/tile_call.h"

#include <algorithm>
#include <cmath>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"

namespace dogged {

absl::Status CheckTile(const Value& tile, absl::string_view name, int64_t rows,
                       int64_t columns) {
  if (tile.IsNone()) {
    return absl::InvalidArgumentError(absl::StrCat(name, " is missing"));
  }
  if (tile.type() != ElementType::kDouble || tile.shape().size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is no matrix of doubles"));
  }
  const bool fits = (rows < 0 || tile.shape()[0] == rows) &&
                    (columns < 0 || tile.shape()[1] == columns);
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", tile.shape()[0], " x ", tile.shape()[1],
                   " instead of ", rows < 0 ? tile.shape()[0] : rows, " x ",
                   columns < 0 ? tile.shape()[1] : columns));
}

static bool AllOf(const Value& tile, bool is_lower,
                  absl::FunctionRef<bool(double)> holds) {
  for (int64_t i = 0; i < RowCount(tile); ++i) {
    const double* const row = MatrixOf(tile).row(i);
    const int64_t count =
        is_lower ? std::min(i + 1, ColumnCount(tile)) : ColumnCount(tile);
    if (!std::all_of(row, row + count, holds)) return false;
  }
  return true;
}

bool IsFinite(const Value& tile, bool is_lower) {
  return AllOf(tile, is_lower, [](double x) { return std::isfinite(x); });
}

bool IsTooSmall(const Value& tile, bool is_lower) {
  return AllOf(tile, is_lower, [](double x) { return std::abs(x) < 0x1p-960; });
}

static absl::Status CheckRows(absl::string_view name, int64_t rows,
                              int64_t first, int64_t columns) {
  if (first >= 0 && rows - first >= columns) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " has ", rows, " rows, too few for ", columns,
                   " columns from row ", first, " on"));
}

absl::Status CheckBlockColumn(const Value& tile, absl::string_view name,
                              int64_t first, int64_t columns) {
  return CheckRows(name, RowCount(tile), first, columns);
}

absl::Status FitsBlockColumn(Shapes in, Scalars scalars) {
  if (in[0].size() != 2) return absl::OkStatus();
  return CheckRows("a", in[0][0], static_cast<int64_t>(scalars[0]), in[0][1]);
}

}  // namespace dogged

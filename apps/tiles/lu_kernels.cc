#include "apps/tiles/lu_kernels.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "apps/tiles/blas.h"
#include "apps/tiles/lu.h"
#include "apps/tiles/numeric_class.h"
#include "apps/tiles/tile_call.h"
#include "apps/tiles/triangle.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

absl::string_view FailureWords(const LuFailure& failure, const Value& tile) {
  if (!failure.is_zero) {
    return "not finite: scale the matrix, unless numbers of its own are not";
  }
  return IsTooSmall(tile)
             ? "zero: the matrix is singular, or too small to tell: scale it"
             : "zero: the matrix is singular";
}

absl::Status Getrf(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "a"));
  const auto first = static_cast<int64_t>(call.scalars[0]);
  const int64_t columns = ColumnCount(call.in[0]);
  DOGGED_RETURN_IF_ERROR(CheckBlockColumn(call.in[0], "a", first, columns));
  Value f = TakeOrCopy(call.in[0]);
  Value p = Value::Allocate(ElementType::kInt64, {columns});
  const absl::Span<int64_t> pivots = p.mutable_span<int64_t>();
  const std::optional<LuFailure> failed =
      FactorLu(RowCount(f) - first, MutableMatrixOf(f).At(first, 0), pivots);
  if (failed.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "pivot ", failed->column, " of the tile (column ",
        first + failed->column, ") is ", FailureWords(*failed, f)));
  }
  for (int64_t& pivot : pivots) pivot += first;
  call.out[0] = std::move(f);
  call.out[1] = std::move(p);
  return absl::OkStatus();
}

// The exchanges of a step, counted from its first row.
absl::StatusOr<std::vector<int64_t>> ExchangesOf(const Value& p, int64_t first,
                                                 int64_t rows,
                                                 int64_t columns) {
  if (p.IsNone() || p.type() != ElementType::kInt64 ||
      p.shape() != Shape({columns})) {
    return absl::InvalidArgumentError(
        absl::StrCat("p is no list of ", columns, " rows"));
  }
  std::vector<int64_t> out;
  for (const int64_t row : p.span<int64_t>()) {
    out.push_back(row - first);
    if (row < first || row >= rows) {
      return absl::InvalidArgumentError(
          absl::StrCat("p names row ", row, " of ", rows));
    }
  }
  return out;
}

absl::Status RowsFrom(NativeCall& call) {
  const Value& f = call.in[0];
  DOGGED_RETURN_IF_ERROR(CheckTile(f, "f"));
  const auto first = static_cast<int64_t>(call.scalars[0]);
  const int64_t rows = RowCount(f);
  if (first < 0 || first >= rows) {
    return absl::InvalidArgumentError(
        absl::StrCat("f has ", rows, " rows, none from row ", first, " on"));
  }
  Value l =
      Value::Allocate(ElementType::kDouble, {rows - first, ColumnCount(f)});
  const absl::Span<const double> from =
      f.span<double>().subspan(static_cast<size_t>(first * ColumnCount(f)));
  absl::c_copy(from, l.mutable_span<double>().begin());
  call.out[0] = std::move(l);
  return absl::OkStatus();
}

// The rows of a step, of a tile that has all rows or those alone.
absl::StatusOr<blas::ConstMatrix> RowsOfStep(const Value& f, int64_t first,
                                             int64_t rows) {
  const int64_t all = RowCount(f);
  if (all != rows && all != rows - first) {
    return absl::InvalidArgumentError(
        absl::StrCat("f has ", all, " rows, neither ", rows, " nor the ",
                     rows - first, " from row ", first, " on"));
  }
  return MatrixOf(f).At(all == rows ? first : 0, 0);
}

absl::Status Eliminate(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "c"));
  const auto first = static_cast<int64_t>(call.scalars[0]);
  const int64_t n = ColumnCount(call.in[0]);
  const int64_t rows = RowCount(call.in[0]);
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[1], "f"));
  const int64_t k = ColumnCount(call.in[1]);
  DOGGED_RETURN_IF_ERROR(CheckBlockColumn(call.in[0], "c", first, k));
  DOGGED_ASSIGN_OR_RETURN(const blas::ConstMatrix l,
                          RowsOfStep(call.in[1], first, rows));
  DOGGED_ASSIGN_OR_RETURN(const std::vector<int64_t> exchanges,
                          ExchangesOf(call.in[2], first, rows, k));
  Value r = TakeOrCopy(call.in[0]);
  const blas::Matrix c = MutableMatrixOf(r).At(first, 0);
  ExchangeRows(n, exchanges, c);
  SolveLeft(k, n, l, Diagonal::kUnit, c);
  const int64_t rest = rows - first - k;
  if (rest > 0) {
    blas::Product({rest, n, k}, -1, l.At(k, 0), c, 1, c.At(k, 0));
  }
  call.out[0] = std::move(r);
  return absl::OkStatus();
}

}  // namespace

void AddLuKernels(KernelRegistry& registry) {
  registry.Add({.name = "getrf",
                .in_count = 1,
                .out_count = 2,
                .scalar_count = 1,
                .elements = {ElementType::kDouble, ElementType::kDouble,
                             ElementType::kInt64},
                .updates = 0,
                .numeric_class = ProductsClass(),
                .run = Getrf,
                .fits = FitsBlockColumn,
                .flops = [](Shapes in, Shapes, Scalars scalars) {
                  const double m = static_cast<double>(in[0][0]) - scalars[0];
                  const auto n = static_cast<double>(in[0][1]);
                  return m * n * n - n * n * n / 3 - n * n / 2 + 5 * n / 6;
                }});
  registry.Add({.name = "rows_from",
                .in_count = 1,
                .out_count = 1,
                .scalar_count = 1,
                .elements = {ElementType::kDouble, ElementType::kDouble},
                .run = RowsFrom});
  registry.Add({.name = "eliminate",
                .in_count = 3,
                .out_count = 1,
                .scalar_count = 1,
                .elements = {ElementType::kDouble, ElementType::kDouble,
                             ElementType::kInt64, ElementType::kDouble},
                .updates = 0,
                .numeric_class = ProductsClass(),
                .run = Eliminate,
                .flops = [](Shapes in, Shapes, Scalars scalars) {
                  const double m = static_cast<double>(in[0][0]) - scalars[0];
                  const auto n = static_cast<double>(in[0][1]);
                  const auto k = static_cast<double>(in[1][1]);
                  return n * k * (k - 1) + 2 * (m - k) * n * k;
                }});
}

}  // namespace dogged

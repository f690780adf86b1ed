#include "apps/tiles/solve_kernels.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

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

// Rows of a triangle that are solved by plain loops, before products take what
// they have found from the rows above.
constexpr int64_t kRowsTogether = 32;

// OK unless there is a zero on the diagonal of `u`, which begins at `first`.
absl::Status CheckDiagonal(int64_t n, blas::ConstMatrix u, int64_t first) {
  for (int64_t i = 0; i < n; ++i) {
    if (u(i, i) != 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "element (", first + i, ", ", first + i,
        ") of the triangle is zero: there is no solution, or more than one"));
  }
  return absl::OkStatus();
}

// x = inverse(u) * x, x being n x m and u upper triangular n x n.
void SolveUpper(int64_t n, int64_t m, blas::ConstMatrix u, blas::Matrix x) {
  for (int64_t end = n; end > 0; end -= kRowsTogether) {
    const int64_t begin = std::max<int64_t>(0, end - kRowsTogether);
    for (int64_t i = end - 1; i >= begin; --i) {
      for (int64_t p = i + 1; p < end; ++p) {
        for (int64_t j = 0; j < m; ++j) x(i, j) -= u(i, p) * x(p, j);
      }
      for (int64_t j = 0; j < m; ++j) x(i, j) /= u(i, i);
    }
    if (begin > 0) {
      blas::Product({begin, m, end - begin}, -1, u.At(0, begin), x.At(begin, 0),
                    1, x);
    }
  }
}

// b and a triangle of as many rows.
absl::Status CheckSolve(const NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "b"));
  const int64_t n = RowCount(call.in[0]);
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[1], "l", n, n));
  return CheckDiagonal(n, MatrixOf(call.in[1]), 0);
}

absl::Status SolveLowerTile(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckSolve(call));
  Value y = TakeOrCopy(call.in[0]);
  SolveLeft(RowCount(y), ColumnCount(y), MatrixOf(call.in[1]),
            Diagonal::kStored, MutableMatrixOf(y));
  call.out[0] = std::move(y);
  return absl::OkStatus();
}

absl::Status SolveLowerTransposed(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckSolve(call));
  Value x = TakeOrCopy(call.in[0]);
  const int64_t n = RowCount(x);
  const blas::ConstMatrix l = MatrixOf(call.in[1]);
  std::vector<double> transposed(static_cast<size_t>(n * n));
  const blas::Matrix u{transposed.data(), n};
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i; j < n; ++j) u(i, j) = l(j, i);
  }
  SolveUpper(n, ColumnCount(x), u, MutableMatrixOf(x));
  call.out[0] = std::move(x);
  return absl::OkStatus();
}

// c - op(a) * b; `is_transposed`: op(a) is a'.
absl::Status SubtractProduct(NativeCall& call, bool is_transposed) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "c"));
  const int64_t m = RowCount(call.in[0]);
  const int64_t n = ColumnCount(call.in[0]);
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[2], "b", -1, n));
  const int64_t k = RowCount(call.in[2]);
  DOGGED_RETURN_IF_ERROR(
      CheckTile(call.in[1], "a", is_transposed ? k : m, is_transposed ? m : k));
  Value r = TakeOrCopy(call.in[0]);
  const auto product = is_transposed ? blas::TransposedProduct : blas::Product;
  product({m, n, k}, -1, MatrixOf(call.in[1]), MatrixOf(call.in[2]), 1,
          MutableMatrixOf(r));
  call.out[0] = std::move(r);
  return absl::OkStatus();
}

absl::Status Subtract(NativeCall& call) { return SubtractProduct(call, false); }

absl::Status SubtractTransposed(NativeCall& call) {
  return SubtractProduct(call, true);
}

// The first rows of `b`, as many as x has.
absl::StatusOr<Value> Cut(Value& b, const Shape& x) {
  if (x == b.shape()) return TakeOrCopy(b);
  if (x.size() != 2 || x[1] != ColumnCount(b) || x[0] > RowCount(b)) {
    return absl::InvalidArgumentError(
        absl::StrCat("x is no part of b's rows: ", x.ToString(), " of ",
                     b.shape().ToString()));
  }
  Value out = Value::Allocate(ElementType::kDouble, x);
  const auto part =
      b.span<double>().first(static_cast<size_t>(out.element_count()));
  absl::c_copy(part, out.mutable_span<double>().begin());
  return out;
}

absl::Status SolveUpperColumn(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "b"));
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[1], "f"));
  const auto row = static_cast<int64_t>(call.scalars[0]);
  const int64_t k = ColumnCount(call.in[1]);
  DOGGED_RETURN_IF_ERROR(CheckBlockColumn(call.in[1], "f", row, k));
  DOGGED_ASSIGN_OR_RETURN(Value x, Cut(call.in[0], call.out_shapes[0]));
  DOGGED_RETURN_IF_ERROR(CheckBlockColumn(x, "x", row, k));
  const int64_t m = ColumnCount(x);
  const blas::ConstMatrix f = MatrixOf(call.in[1]);
  DOGGED_RETURN_IF_ERROR(CheckDiagonal(k, f.At(row, 0), row));
  const blas::Matrix all = MutableMatrixOf(x);
  SolveUpper(k, m, f.At(row, 0), all.At(row, 0));
  if (row > 0) blas::Product({row, m, k}, -1, f, all.At(row, 0), 1, all);
  call.out[0] = std::move(x);
  return absl::OkStatus();
}

absl::Status ApplyExchanges(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "f"));
  const Value& p = call.in[1];
  if (p.IsNone() || p.type() != ElementType::kInt64 || p.shape().size() != 1) {
    return absl::InvalidArgumentError("p is no list of rows");
  }
  const int64_t rows = RowCount(call.in[0]);
  for (const int64_t row : p.span<int64_t>()) {
    if (row >= 0 && row < rows) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("p names row ", row, " of ", rows));
  }
  const auto first = static_cast<int64_t>(call.scalars[0]);
  if (first < 0 || first > rows - p.element_count()) {
    return absl::InvalidArgumentError(
        absl::StrCat("f has ", rows, " rows, too few for ", p.element_count(),
                     " exchanges from row ", first, " on"));
  }
  Value r = TakeOrCopy(call.in[0]);
  const blas::Matrix f = MutableMatrixOf(r);
  for (int64_t q = 0; q < p.element_count(); ++q) {
    const int64_t other = p.span<int64_t>()[q];
    if (other == first + q) continue;
    std::swap_ranges(f.row(first + q), f.row(first + q) + ColumnCount(r),
                     f.row(other));
  }
  call.out[0] = std::move(r);
  return absl::OkStatus();
}

double TriangleFlops(Shapes in, Shapes, Scalars) {
  return Extent(in[0], 0) * Extent(in[0], 0) * Extent(in[0], 1);
}

double ProductFlops(Shapes in, Shapes, Scalars) {
  return 2 * Extent(in[0], 0) * Extent(in[0], 1) * Extent(in[2], 0);
}

constexpr ElementType kDouble = ElementType::kDouble;

}  // namespace

void AddSolveKernels(KernelRegistry& registry) {
  const auto add = [&registry](absl::string_view name, int in_count,
                               absl::Status (*run)(NativeCall&),
                               double (*flops)(Shapes, Shapes, Scalars)) {
    registry.Add({.name = std::string(name),
                  .in_count = in_count,
                  .out_count = 1,
                  .elements = std::vector<ElementType>(
                      static_cast<size_t>(in_count) + 1, kDouble),
                  .updates = 0,
                  .numeric_class = ProductsClass(),
                  .run = run,
                  .flops = flops});
  };
  add("solve_lower", 2, SolveLowerTile, TriangleFlops);
  add("solve_lower_t", 2, SolveLowerTransposed, TriangleFlops);
  add("subtract", 3, Subtract, ProductFlops);
  add("subtract_t", 3, SubtractTransposed, ProductFlops);
  registry.Add({.name = "solve_upper",
                .in_count = 2,
                .out_count = 1,
                .scalar_count = 1,
                .elements = {kDouble, kDouble, kDouble},
                .updates = 0,
                .numeric_class = ProductsClass(),
                .run = SolveUpperColumn,
                .flops = [](Shapes in, Shapes, Scalars scalars) {
                  const double k = Extent(in[1], 1);
                  return Extent(in[0], 1) * k * (k + 2 * scalars[0]);
                }});
  registry.Add({.name = "exchange",
                .in_count = 2,
                .out_count = 1,
                .scalar_count = 1,
                .elements = {kDouble, ElementType::kInt64, kDouble},
                .updates = 0,
                .run = ApplyExchanges});
}

}  // namespace dogged

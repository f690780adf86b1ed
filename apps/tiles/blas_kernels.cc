#include "apps/tiles/blas_kernels.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "apps/tiles/blas.h"
#include "apps/tiles/float_kernels.h"
#include "apps/tiles/lu_kernels.h"
#include "apps/tiles/numeric_class.h"
#include "apps/tiles/qr_kernels.h"
#include "apps/tiles/solve_kernels.h"
#include "apps/tiles/tile_call.h"
#include "apps/tiles/triangle.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// The element (i, j) of the generated matrices: independent of tiling, between
// -0.5 and 0.5.
double Element(int64_t i, int64_t j) {
  const uint64_t bits =
      Mix64(static_cast<uint64_t>(i), static_cast<uint64_t>(j));
  return static_cast<double>(bits >> 11) * 0x1.0p-53 - 0.5;
}

double SpdElement(int64_t i, int64_t j, int64_t n) {
  if (i == j) return static_cast<double>(n);
  return Element(std::max(i, j), std::min(i, j));
}

// Fills the tile that begins at (row, column) by element(i, j).
absl::Status Generate(NativeCall& call,
                      absl::FunctionRef<double(int64_t, int64_t)> element) {
  const Shape& shape = call.out_shapes[0];
  if (shape.size() != 2) {
    return absl::InvalidArgumentError("a is no matrix");
  }
  const auto row = static_cast<int64_t>(call.scalars[0]);
  const auto column = static_cast<int64_t>(call.scalars[1]);
  Value a = Value::Allocate(ElementType::kDouble, shape);
  double* out = a.mutable_span<double>().data();
  for (int64_t i = row; i < row + shape[0]; ++i) {
    for (int64_t j = column; j < column + shape[1]; ++j) {
      *out++ = element(i, j);
    }
  }
  call.out[0] = std::move(a);
  return absl::OkStatus();
}

absl::Status Spd(NativeCall& call) {
  const auto n = static_cast<int64_t>(call.scalars[2]);
  return Generate(call,
                  [n](int64_t i, int64_t j) { return SpdElement(i, j, n); });
}

absl::Status General(NativeCall& call) { return Generate(call, Element); }

// A factor of finite numbers that is not finite is none, too: its elements are
// no larger than the roots of the diagonal's.
absl::string_view PivotWords(const Value& failed) {
  if (!IsFinite(failed, /*is_lower=*/true)) {
    return "finite: the matrix is not positive definite, unless numbers of its "
           "own are not finite";
  }
  return IsTooSmall(failed, /*is_lower=*/true)
             ? "positive: the matrix is not positive definite, or too small to "
               "tell: scale it"
             : "positive: the matrix is not positive definite";
}

absl::Status Potrf(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "a"));
  const int64_t n = RowCount(call.in[0]);
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "a", n, n));
  Value l = TakeOrCopy(call.in[0]);
  const blas::Matrix a = MutableMatrixOf(l);
  if (const std::optional<int64_t> pivot = FactorCholesky(n, a)) {
    // Where the tile stands is only for this.
    const std::string column =
        call.scalars.empty()
            ? ""
            : absl::StrCat(" (column ",
                           static_cast<int64_t>(call.scalars[0]) + *pivot, ")");
    return absl::InvalidArgumentError(absl::StrCat(
        "pivot ", *pivot, " of the tile", column, " is not ", PivotWords(l)));
  }
  for (int64_t i = 0; i < n; ++i) {
    std::fill(a.row(i) + i + 1, a.row(i) + n, 0.0);
  }
  call.out[0] = std::move(l);
  return absl::OkStatus();
}

absl::Status Trsm(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[1], "a"));
  const int64_t m = RowCount(call.in[1]);
  const int64_t n = ColumnCount(call.in[1]);
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "l", n, n));
  Value r = TakeOrCopy(call.in[1]);
  SolveRightTransposed(m, n, MatrixOf(call.in[0]), MutableMatrixOf(r));
  call.out[0] = std::move(r);
  return absl::OkStatus();
}

absl::Status Syrk(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "c"));
  const int64_t n = RowCount(call.in[0]);
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "c", n, n));
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[1], "a", n));
  Value r = TakeOrCopy(call.in[0]);
  blas::SubtractSquare(n, ColumnCount(call.in[1]), MatrixOf(call.in[1]),
                       MutableMatrixOf(r));
  call.out[0] = std::move(r);
  return absl::OkStatus();
}

absl::Status Gemm(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "c"));
  const int64_t m = RowCount(call.in[0]);
  const int64_t n = ColumnCount(call.in[0]);
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[1], "a", m));
  const int64_t k = ColumnCount(call.in[1]);
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[2], "b", n, k));
  Value r = TakeOrCopy(call.in[0]);
  blas::ProductTransposed({m, n, k}, -1, MatrixOf(call.in[1]),
                          MatrixOf(call.in[2]), 1, MutableMatrixOf(r));
  call.out[0] = std::move(r);
  return absl::OkStatus();
}

void AddDoubleKernels(KernelRegistry& registry) {
  registry.Add({.name = "spd",
                .out_count = 1,
                .scalar_count = 3,
                .elements = {ElementType::kDouble},
                .run = Spd});
  registry.Add({.name = "general",
                .out_count = 1,
                .scalar_count = 2,
                .elements = {ElementType::kDouble},
                .run = General});
  AddLuKernels(registry);
  AddQrKernels(registry);
  AddSolveKernels(registry);
  registry.Add({.name = "potrf",
                .in_count = 1,
                .out_count = 1,
                .optional_count = 1,
                .elements = {ElementType::kDouble, ElementType::kDouble},
                .updates = 0,
                .numeric_class = SquaresClass(),
                .run = Potrf,
                .flops = [](Shapes in, Shapes, Scalars) {
                  const double n = Extent(in[0], 0);
                  return n * n * n / 3 + n * n / 2 + n / 6;
                }});
  registry.Add({.name = "trsm",
                .in_count = 2,
                .out_count = 1,
                .elements = {ElementType::kDouble, ElementType::kDouble,
                             ElementType::kDouble},
                .updates = 1,
                .numeric_class = TilesClass(),
                .run = Trsm,
                .flops = [](Shapes in, Shapes, Scalars) {
                  return Extent(in[1], 0) * Extent(in[1], 1) * Extent(in[1], 1);
                }});
  registry.Add({.name = "syrk",
                .in_count = 2,
                .out_count = 1,
                .elements = {ElementType::kDouble, ElementType::kDouble,
                             ElementType::kDouble},
                .updates = 0,
                .numeric_class = SquaresClass(),
                .run = Syrk,
                .flops = [](Shapes in, Shapes, Scalars) {
                  return Extent(in[1], 0) * (Extent(in[1], 0) + 1) *
                         Extent(in[1], 1);
                }});
  registry.Add({.name = "gemm",
                .in_count = 3,
                .out_count = 1,
                .elements = {ElementType::kDouble, ElementType::kDouble,
                             ElementType::kDouble, ElementType::kDouble},
                .updates = 0,
                .numeric_class = ProductsClass(),
                .run = Gemm,
                .flops = [](Shapes in, Shapes, Scalars) {
                  return 2 * Extent(in[0], 0) * Extent(in[0], 1) *
                         Extent(in[1], 1);
                }});
}

}  // namespace

void AddBlasKernels(KernelRegistry& registry) {
  KernelRegistry doubles;
  AddDoubleKernels(doubles);
  for (const std::string& name : doubles.Names()) {
    registry.Add(*doubles.Find(name));
    registry.Add(OverFloats(*doubles.Find(name)));
  }
}

absl::Status SetUpBlas() { return blas::SetUp(); }

absl::Status ReserveBlas(int workers) { return blas::Reserve(workers); }

std::string BlasName() { return blas::Name(); }

}  // namespace dogged

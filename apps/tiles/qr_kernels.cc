#include "apps/tiles/qr_kernels.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/tiles/blas.h"
#include "apps/tiles/numeric_class.h"
#include "apps/tiles/reflectors.h"
#include "apps/tiles/tile_call.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr char kTooLong[] = "longer than the largest double: scale the matrix";

absl::Status Geqrt(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "a"));
  const auto first = static_cast<int64_t>(call.scalars[0]);
  const int64_t columns = ColumnCount(call.in[0]);
  DOGGED_RETURN_IF_ERROR(CheckBlockColumn(call.in[0], "a", first, columns));
  Value v = TakeOrCopy(call.in[0]);
  Value t = Value::Allocate(ElementType::kDouble, {columns, columns});
  const std::optional<QrFailure> failed =
      FactorQr(RowCount(v) - first, columns, MutableMatrixOf(v).At(first, 0),
               MutableMatrixOf(t));
  if (failed.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("column ", failed->column, " of the tile (column ",
                     first + failed->column, " of the matrix) is ",
                     failed->overflows ? kTooLong : "not finite"));
  }
  call.out[0] = std::move(v);
  call.out[1] = std::move(t);
  return absl::OkStatus();
}

absl::Status ReflectTile(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "c"));
  const auto first = static_cast<int64_t>(call.scalars[0]);
  const int64_t rows = RowCount(call.in[0]);
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[1], "v", rows));
  const int64_t k = ColumnCount(call.in[1]);
  DOGGED_RETURN_IF_ERROR(CheckBlockColumn(call.in[1], "v", first, k));
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[2], "t", k, k));
  Value r = TakeOrCopy(call.in[0]);
  const std::optional<int64_t> overflown =
      ApplyReflectors(Reflect::kTransposed, {rows - first, ColumnCount(r), k},
                      MatrixOf(call.in[1]).At(first, 0), MatrixOf(call.in[2]),
                      MutableMatrixOf(r).At(first, 0));
  if (overflown.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("column ", *overflown, " of the tile is ", kTooLong));
  }
  call.out[0] = std::move(r);
  return absl::OkStatus();
}

}  // namespace

void AddQrKernels(KernelRegistry& registry) {
  registry.Add(
      {.name = "geqrt",
       .in_count = 1,
       .out_count = 2,
       .scalar_count = 1,
       .elements = {ElementType::kDouble, ElementType::kDouble,
                    ElementType::kDouble},
       .updates = 0,
       .numeric_class = absl::StrCat(ProductsClass(), "; ", MathematicsClass()),
       .run = Geqrt,
       .fits = FitsBlockColumn,
       .flops = [](Shapes in, Shapes, Scalars scalars) {
         const double m = static_cast<double>(in[0][0]) - scalars[0];
         const auto n = static_cast<double>(in[0][1]);
         return 2 * n * n * (m - n / 3);
       }});
  registry.Add({.name = "reflect",
                .in_count = 3,
                .out_count = 1,
                .scalar_count = 1,
                .elements = {ElementType::kDouble, ElementType::kDouble,
                             ElementType::kDouble, ElementType::kDouble},
                .updates = 0,
                .numeric_class = ProductsClass(),
                .run = ReflectTile,
                .flops = [](Shapes in, Shapes, Scalars scalars) {
                  const double m = static_cast<double>(in[0][0]) - scalars[0];
                  const auto n = static_cast<double>(in[0][1]);
                  const auto k = static_cast<double>(in[1][1]);
                  return 2 * n * k * (2 * m - k);
                }});
}

}  // namespace dogged

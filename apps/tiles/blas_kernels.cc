#include "apps/tiles/blas_kernels.h"

#include <cblas.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/base/status.h"

// Debian's OpenBLAS has the LAPACK routine but no header for it.
extern "C" void dpotrf_(const char* uplo, const int* n, double* a,
                        const int* lda, int* info);

namespace dogged {
namespace {

int Rows(const Value& tile) { return static_cast<int>(tile.shape()[0]); }
int Columns(const Value& tile) { return static_cast<int>(tile.shape()[1]); }
const double* Data(const Value& tile) { return tile.span<double>().data(); }
double* MutableData(Value& tile) { return tile.mutable_span<double>().data(); }

// kInvalidArgument unless `tile` is a matrix of doubles with `rows` rows and
// `columns` columns; -1 for any number.
absl::Status CheckTile(const Value& tile, absl::string_view name,
                       int64_t rows = -1, int64_t columns = -1) {
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

// The element (i, j), i >= j, of the generated matrix: independent of tiling.
double SpdElement(int64_t i, int64_t j, int64_t n) {
  if (i == j) return static_cast<double>(n);
  const uint64_t bits =
      Mix64(static_cast<uint64_t>(i), static_cast<uint64_t>(j));
  return static_cast<double>(bits >> 11) * 0x1.0p-53 - 0.5;
}

absl::Status Spd(NativeCall& call) {
  const Shape& shape = call.out_shapes[0];
  if (shape.size() != 2) {
    return absl::InvalidArgumentError("a is no matrix");
  }
  const auto row = static_cast<int64_t>(call.scalars[0]);
  const auto column = static_cast<int64_t>(call.scalars[1]);
  const auto n = static_cast<int64_t>(call.scalars[2]);
  Value a = Value::Allocate(ElementType::kDouble, shape);
  double* out = MutableData(a);
  for (int64_t i = row; i < row + shape[0]; ++i) {
    for (int64_t j = column; j < column + shape[1]; ++j) {
      *out++ = SpdElement(std::max(i, j), std::min(i, j), n);
    }
  }
  call.out[0] = std::move(a);
  return absl::OkStatus();
}

// LAPACK counts by columns: the lower triangle of a row-major tile is the
// upper one of the same bytes.
absl::Status Potrf(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "a"));
  const int n = Rows(call.in[0]);
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "a", n, n));
  Value l = TakeOrCopy(call.in[0]);
  double* data = MutableData(l);
  int info = 0;
  if (n > 0) dpotrf_("U", &n, data, &n, &info);
  const auto at = [&](int i, int j) -> double& {
    return data[static_cast<int64_t>(i) * n + j];
  };
  // This OpenBLAS reports no pivot that is NaN.
  for (int i = 0; i < n && info == 0; ++i) {
    if (!(at(i, i) > 0)) info = i + 1;
  }
  if (info != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("pivot ", info - 1,
                     " of the tile is not positive: the "
                     "matrix is not positive definite"));
  }
  for (int i = 0; i < n; ++i) std::fill(&at(i, i) + 1, &at(i, 0) + n, 0.0);
  call.out[0] = std::move(l);
  return absl::OkStatus();
}

absl::Status Trsm(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[1], "a"));
  const int m = Rows(call.in[1]);
  const int n = Columns(call.in[1]);
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "l", n, n));
  Value r = TakeOrCopy(call.in[1]);
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
              m, n, 1.0, Data(call.in[0]), n, MutableData(r), n);
  call.out[0] = std::move(r);
  return absl::OkStatus();
}

absl::Status Syrk(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "c"));
  const int n = Rows(call.in[0]);
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "c", n, n));
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[1], "a", n));
  const int k = Columns(call.in[1]);
  Value r = TakeOrCopy(call.in[0]);
  cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, k, -1.0,
              Data(call.in[1]), k, 1.0, MutableData(r), n);
  call.out[0] = std::move(r);
  return absl::OkStatus();
}

absl::Status Gemm(NativeCall& call) {
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[0], "c"));
  const int m = Rows(call.in[0]);
  const int n = Columns(call.in[0]);
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[1], "a", m));
  const int k = Columns(call.in[1]);
  DOGGED_RETURN_IF_ERROR(CheckTile(call.in[2], "b", n, k));
  Value r = TakeOrCopy(call.in[0]);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, -1.0,
              Data(call.in[1]), k, Data(call.in[2]), k, 1.0, MutableData(r), n);
  call.out[0] = std::move(r);
  return absl::OkStatus();
}

using Shapes = absl::Span<const Shape>;

double Extent(const Shape& shape, int d) {
  return static_cast<double>(shape[d]);
}

}  // namespace

void AddBlasKernels(KernelRegistry& registry) {
  registry.Add({.name = "spd", .out_count = 1, .scalar_count = 3, .run = Spd});
  registry.Add({.name = "potrf",
                .in_count = 1,
                .out_count = 1,
                .run = Potrf,
                .flops = [](Shapes in, Shapes) {
                  const double n = Extent(in[0], 0);
                  return n * n * n / 3 + n * n / 2 + n / 6;
                }});
  registry.Add({.name = "trsm",
                .in_count = 2,
                .out_count = 1,
                .run = Trsm,
                .flops = [](Shapes in, Shapes) {
                  return Extent(in[1], 0) * Extent(in[1], 1) * Extent(in[1], 1);
                }});
  registry.Add({.name = "syrk",
                .in_count = 2,
                .out_count = 1,
                .run = Syrk,
                .flops = [](Shapes in, Shapes) {
                  return Extent(in[1], 0) * (Extent(in[1], 0) + 1) *
                         Extent(in[1], 1);
                }});
  registry.Add({.name = "gemm",
                .in_count = 3,
                .out_count = 1,
                .run = Gemm,
                .flops = [](Shapes in, Shapes) {
                  return 2 * Extent(in[0], 0) * Extent(in[0], 1) *
                         Extent(in[1], 1);
                }});
}

void UseOneBlasThread() { openblas_set_num_threads(1); }

std::string BlasName() {
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
  const std::vector<std::string> words =
      absl::StrSplit(openblas_get_config(), ' ');
  return absl::StrCat(words[0], " ", words.size() > 1 ? words[1] : "", " ",
                      openblas_get_corename());
}

}  // namespace dogged

#include "apps/tiles/triangle.h"

#include <algorithm>
#include <cmath>

#include "apps/tiles/workspace.h"
#include "runtime/base/division.h"

namespace dogged {
namespace {

using blas::ConstMatrix;
using blas::Matrix;

// The rows of the first of two parts of `n` rows: whole triangles.
int64_t Half(int64_t n) { return RoundUp(n / 2, kTriangle); }

// out(k, i) = inverse(l)(i, k), size x size; elements beyond the n x n ones of
// l are as of the identity.
void InvertTransposed(int64_t n, ConstMatrix l, Diagonal diagonal, int64_t size,
                      Matrix out) {
  std::fill_n(out.data, size * size, 0.0);
  for (int64_t i = 0; i < size; ++i) {
    const bool has_pivot = i < n && diagonal == Diagonal::kStored;
    const double pivot = has_pivot ? 1 / l(i, i) : 1;
    for (int64_t k = 0; i < n && k < i; ++k) {
      double sum = 0;
      for (int64_t q = k; q < i; ++q) sum -= l(i, q) * out(k, q);
      out(k, i) = sum * pivot;
    }
    out(i, i) = pivot;
  }
}

// How many numbers Pack() writes.
int64_t PackedCount(int64_t n, int64_t size) {
  const int64_t blocks = RoundUp(n, size) / size;
  return blocks * (blocks + 1) / 2 * size * size;
}

// A lower triangle n x n as solve_right() wants it, the last block of rows
// filled up with those of the identity.
void Pack(int64_t n, ConstMatrix l, const MicroKernels& kernels, double* out) {
  const int64_t size = kernels.columns;
  for (int64_t first = 0; first < n; first += size) {
    const int64_t rows = std::min(size, n - first);
    kernels.pack(first, rows, -1, {l.row(first), 1, l.stride}, out);
    out += first * size;
    InvertTransposed(rows, l.At(first, first), Diagonal::kStored, size,
                     {out, size});
    out += size * size;
  }
}

void Copy(int64_t m, int64_t n, ConstMatrix from, Matrix to) {
  for (int64_t i = 0; i < m; ++i) std::copy_n(from.row(i), n, to.row(i));
}

std::optional<int64_t> FactorTriangle(int64_t n, Matrix a) {
  for (int64_t j = 0; j < n; ++j) {
    const double* const pivot_row = a.row(j);
    double square = a(j, j);
    for (int64_t k = 0; k < j; ++k) square -= pivot_row[k] * pivot_row[k];
    if (!(square > 0) || std::isinf(square)) return j;
    const double pivot = std::sqrt(square);
    a(j, j) = pivot;
    for (int64_t i = j + 1; i < n; ++i) {
      double sum = a(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= a(i, k) * pivot_row[k];
      a(i, j) = sum / pivot;
    }
  }
  return std::nullopt;
}

}  // namespace

void SolveRightTransposed(int64_t m, int64_t n, ConstMatrix l, Matrix x,
                          const MicroKernels& kernels) {
  if (m == 0 || n == 0) return;
  const int64_t stride = RoundUp(n, kernels.columns);
  const int64_t packed_count = PackedCount(n, kernels.columns);
  thread_local Workspace workspace;
  double* const packed = workspace.Room(packed_count + kernels.rows * stride);
  Pack(n, l, kernels, packed);
  const Matrix rows{packed + packed_count, stride};
  std::fill_n(rows.data, kernels.rows * stride, 0.0);
  for (int64_t first = 0; first < m; first += kernels.rows) {
    const int64_t count = std::min(kernels.rows, m - first);
    Copy(count, n, x.At(first, 0), rows);
    kernels.solve_right(stride, packed, rows.data);
    Copy(count, n, rows, x.At(first, 0));
  }
}

void SolveLeft(int64_t m, int64_t n, ConstMatrix l, Diagonal diagonal, Matrix x,
               const MicroKernels& kernels) {
  if (m == 0 || n == 0) return;
  const int64_t size = kernels.rows;
  const int64_t height = RoundUp(m, size);
  thread_local Workspace workspace;
  double* const inverses =
      workspace.Room(height * size + height * size + height * kernels.columns);
  for (int64_t i = 0; i < m; i += size) {
    InvertTransposed(std::min(size, m - i), l.At(i, i), diagonal, size,
                     {inverses + i * size, size});
  }
  // The rows of the last block, filled up with zeros, column by column.
  double* const last = inverses + height * size;
  const int64_t last_begin = height - size;
  for (int64_t k = 0; k < last_begin; ++k) {
    for (int64_t i = 0; i < size; ++i) {
      last[k * size + i] = last_begin + i < m ? l(last_begin + i, k) : 0;
    }
  }
  const Matrix part{last + height * size, kernels.columns};
  std::fill_n(part.data, height * kernels.columns, 0.0);
  for (int64_t first = 0; first < n; first += kernels.columns) {
    const int64_t count = std::min(kernels.columns, n - first);
    Copy(m, count, x.At(0, first), part);
    for (int64_t i = 0; i < m; i += size) {
      const Strided rows = i == last_begin ? Strided{last, 1, size}
                                           : Strided{l.row(i), l.stride, 1};
      kernels.solve_left(i, rows, inverses + i * size, part.data);
    }
    Copy(m, count, part, x.At(0, first));
  }
}

std::optional<int64_t> FactorCholesky(int64_t n, Matrix a) {
  if (n <= kTriangle) return FactorTriangle(n, a);
  const int64_t half = Half(n);
  if (const auto pivot = FactorCholesky(half, a)) return pivot;
  SolveRightTransposed(n - half, half, a, a.At(half, 0));
  blas::SubtractSquare(n - half, half, a.At(half, 0), a.At(half, half));
  const auto pivot = FactorCholesky(n - half, a.At(half, half));
  if (!pivot.has_value()) return std::nullopt;
  return half + *pivot;
}

}  // namespace dogged

#include "apps/tiles/triangle.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace dogged {
namespace {

using blas::ConstMatrix;
using blas::Matrix;

// The rows of the first of two parts of `n` rows: whole triangles.
int64_t Half(int64_t n) {
  return (n / 2 + kTriangle - 1) / kTriangle * kTriangle;
}

int64_t RoundUp(int64_t n, int64_t step) {
  return (n + step - 1) / step * step;
}

// A lower triangle n x n as MicroKernels want it, in blocks of `size` rows, the
// last of which is filled up with rows of the identity. What concerns row i and
// column k of it is element i of row k of its block.
class PackedTriangle {
 public:
  PackedTriangle(int64_t n, ConstMatrix l, Diagonal diagonal, int64_t size)
      : size_(size), l_(l), diagonal_(diagonal) {
    const int64_t blocks = RoundUp(n, size) / size;
    content_.resize(
        static_cast<size_t>(blocks * (blocks + 1) / 2 * size * size));
    double* out = content_.data();
    for (int64_t first = 0; first < n; first += size) {
      const int64_t rows = std::min(size, n - first);
      for (int64_t k = 0; k < first; ++k) {
        const double* const column = l.row(first) + k;
        for (int64_t i = 0; i < rows; ++i) {
          out[k * size + i] = -column[i * l.stride];
        }
      }
      out += first * size;
      Invert(first, rows, out);
      out += size * size;
    }
  }

  const double* data() const { return content_.data(); }

 private:
  // out(k, i) = w(i, k), w being the inverse of the triangle from row `first`.
  void Invert(int64_t first, int64_t rows, double* out) const {
    for (int64_t i = 0; i < size_; ++i) {
      const bool has_pivot = i < rows && diagonal_ == Diagonal::kStored;
      const double pivot = has_pivot ? 1 / l_(first + i, first + i) : 1;
      for (int64_t k = 0; i < rows && k < i; ++k) {
        double sum = 0;
        for (int64_t q = k; q < i; ++q) {
          sum -= l_(first + i, first + q) * out[k * size_ + q];
        }
        out[k * size_ + i] = sum * pivot;
      }
      out[i * size_ + i] = pivot;
    }
  }

  int64_t size_;
  ConstMatrix l_;
  Diagonal diagonal_;
  std::vector<double> content_;  // zero where nothing is written
};

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
  const PackedTriangle packed(n, l, Diagonal::kStored, kernels.columns);
  const int64_t stride = RoundUp(n, kernels.columns);
  std::vector<double> rows(static_cast<size_t>(kernels.rows * stride));
  for (int64_t first = 0; first < m; first += kernels.rows) {
    const int64_t count = std::min(kernels.rows, m - first);
    Copy(count, n, x.At(first, 0), {rows.data(), stride});
    kernels.solve_right(stride, packed.data(), rows.data());
    Copy(count, n, Matrix{rows.data(), stride}, x.At(first, 0));
  }
}

void SolveLeft(int64_t m, int64_t n, ConstMatrix l, Diagonal diagonal, Matrix x,
               const MicroKernels& kernels) {
  if (m == 0 || n == 0) return;
  const PackedTriangle packed(m, l, diagonal, kernels.rows);
  const int64_t height = RoundUp(m, kernels.rows);
  std::vector<double> columns(static_cast<size_t>(height * kernels.columns));
  const Matrix part{columns.data(), kernels.columns};
  for (int64_t first = 0; first < n; first += kernels.columns) {
    const int64_t count = std::min(kernels.columns, n - first);
    Copy(m, count, x.At(0, first), part);
    kernels.solve_left(height, packed.data(), columns.data());
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

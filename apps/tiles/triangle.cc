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

// w = inverse(l), all of its n x n elements; n is at most kTriangle.
void Invert(int64_t n, ConstMatrix l, Diagonal diagonal, Matrix w) {
  for (int64_t i = 0; i < n; ++i) {
    double* const row = w.row(i);
    std::fill(row, row + n, 0.0);
    for (int64_t k = 0; k < i; ++k) {
      const double factor = l(i, k);
      const double* const other = w.row(k);
      for (int64_t j = 0; j <= k; ++j) row[j] -= factor * other[j];
    }
    const double pivot = diagonal == Diagonal::kUnit ? 1 : 1 / l(i, i);
    for (int64_t j = 0; j < i; ++j) row[j] *= pivot;
    row[i] = pivot;
  }
}

// The inverses of the triangles on a diagonal, one under the other, and room
// for a right-hand side of a triangle's rows or columns.
class Inverses {
 public:
  Inverses(int64_t n, int64_t others, ConstMatrix l, Diagonal diagonal)
      : content_(static_cast<size_t>(n * kTriangle)),
        spare_(static_cast<size_t>(others * kTriangle)) {
    for (int64_t at = 0; at < n; at += kTriangle) {
      Invert(std::min(kTriangle, n - at), l.At(at, at), diagonal, Triangle(at));
    }
  }
  // That of the rows from `row` on.
  Matrix Triangle(int64_t row) {
    return {content_.data() + row * kTriangle, kTriangle};
  }
  Matrix Spare(int64_t stride) { return {spare_.data(), stride}; }

 private:
  std::vector<double> content_;
  std::vector<double> spare_;
};

void Copy(int64_t m, int64_t n, ConstMatrix from, Matrix to) {
  for (int64_t i = 0; i < m; ++i) std::copy_n(from.row(i), n, to.row(i));
}

// x(0:m-1, at:at+n-1) of SolveRightTransposed, whose columns before `at` count
// no more.
void SolveColumns(int64_t m, int64_t at, int64_t n, ConstMatrix l,
                  Inverses& inverses, Matrix x) {
  if (n <= kTriangle) {
    const Matrix spare = inverses.Spare(n);
    Copy(m, n, x.At(0, at), spare);
    blas::ProductTransposed({m, n, n}, 1, spare, inverses.Triangle(at), 0,
                            x.At(0, at));
    return;
  }
  const int64_t half = Half(n);
  SolveColumns(m, at, half, l, inverses, x);
  blas::ProductTransposed({m, n - half, half}, -1, x.At(0, at),
                          l.At(at + half, at), 1, x.At(0, at + half));
  SolveColumns(m, at + half, n - half, l, inverses, x);
}

// x(at:at+m-1, 0:n-1) of SolveLeft, whose rows before `at` count no more.
void SolveRows(int64_t at, int64_t m, int64_t n, ConstMatrix l,
               Inverses& inverses, Matrix x) {
  if (m <= kTriangle) {
    const Matrix spare = inverses.Spare(n);
    Copy(m, n, x.At(at, 0), spare);
    blas::Product({m, n, m}, 1, inverses.Triangle(at), spare, 0, x.At(at, 0));
    return;
  }
  const int64_t half = Half(m);
  SolveRows(at, half, n, l, inverses, x);
  blas::Product({m - half, n, half}, -1, l.At(at + half, at), x.At(at, 0), 1,
                x.At(at + half, 0));
  SolveRows(at + half, m - half, n, l, inverses, x);
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

void SolveRightTransposed(int64_t m, int64_t n, ConstMatrix l, Matrix x) {
  if (m == 0 || n == 0) return;
  Inverses inverses(n, m, l, Diagonal::kStored);
  SolveColumns(m, 0, n, l, inverses, x);
}

void SolveLeft(int64_t m, int64_t n, ConstMatrix l, Diagonal diagonal,
               Matrix x) {
  if (m == 0 || n == 0) return;
  Inverses inverses(m, n, l, diagonal);
  SolveRows(0, m, n, l, inverses, x);
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

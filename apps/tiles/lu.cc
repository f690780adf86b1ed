#include "apps/tiles/lu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "apps/tiles/triangle.h"

namespace dogged {
namespace {

using blas::Matrix;

// Columns that are eliminated one by one are copied to where rows follow one
// another.
using Row = std::array<double, kStrip>;

void Exchange(int64_t n, int64_t i, int64_t j, Matrix a) {
  if (i != j) std::swap_ranges(a.row(i), a.row(i) + n, a.row(j));
}

// The row from `first` on whose element in column `j` is the largest; none if
// that is zero or not finite.
std::optional<int64_t> FindPivot(const std::vector<Row>& rows, size_t first,
                                 size_t j) {
  size_t at = first;
  double largest = 0;
  for (size_t i = first; i < rows.size(); ++i) {
    const double size = std::abs(rows[i][j]);
    if (!std::isfinite(size)) return std::nullopt;
    if (size > largest) {
      largest = size;
      at = i;
    }
  }
  if (largest == 0) return std::nullopt;
  return static_cast<int64_t>(at);
}

std::optional<int64_t> FactorStrip(int64_t m, Matrix a,
                                   absl::Span<int64_t> pivots) {
  const size_t n = pivots.size();
  std::vector<Row> rows(static_cast<size_t>(m));
  for (int64_t i = 0; i < m; ++i) {
    std::copy_n(a.row(i), n, rows[static_cast<size_t>(i)].begin());
  }
  for (size_t j = 0; j < n; ++j) {
    const std::optional<int64_t> pivot = FindPivot(rows, j, j);
    if (!pivot.has_value()) return static_cast<int64_t>(j);
    pivots[j] = *pivot;
    std::swap(rows[j], rows[static_cast<size_t>(*pivot)]);
    Row u = rows[j];
    std::fill_n(u.begin(), j + 1, 0.0);
    const double divisor = rows[j][j];
    for (size_t i = j + 1; i < rows.size(); ++i) {
      Row& row = rows[i];
      const double factor = row[j] / divisor;
      for (size_t c = 0; c < kStrip; ++c) row[c] -= factor * u[c];
      row[j] = factor;
    }
  }
  for (int64_t i = 0; i < m; ++i) {
    std::copy_n(rows[static_cast<size_t>(i)].begin(), n, a.row(i));
  }
  return std::nullopt;
}

}  // namespace

void ExchangeRows(int64_t n, absl::Span<const int64_t> pivots, Matrix a) {
  for (size_t j = 0; j < pivots.size(); ++j) {
    Exchange(n, static_cast<int64_t>(j), pivots[j], a);
  }
}

void ExchangeRowsBack(int64_t n, absl::Span<const int64_t> pivots, Matrix a) {
  for (size_t j = pivots.size(); j-- > 0;) {
    Exchange(n, static_cast<int64_t>(j), pivots[j], a);
  }
}

std::optional<int64_t> FactorLu(int64_t m, Matrix a,
                                absl::Span<int64_t> pivots) {
  const auto n = static_cast<int64_t>(pivots.size());
  if (n <= kStrip) return FactorStrip(m, a, pivots);
  const int64_t left = (n / 2 + kStrip - 1) / kStrip * kStrip;
  const int64_t right = n - left;
  const auto first = pivots.first(static_cast<size_t>(left));
  const auto rest = pivots.subspan(static_cast<size_t>(left));
  if (const auto failed = FactorLu(m, a, first)) return failed;
  ExchangeRows(right, first, a.At(0, left));
  SolveLeft(left, right, a, Diagonal::kUnit, a.At(0, left));
  blas::Product({m - left, right, left}, -1, a.At(left, 0), a.At(0, left), 1,
                a.At(left, left));
  const auto failed = FactorLu(m - left, a.At(left, left), rest);
  if (failed.has_value()) return left + *failed;
  ExchangeRows(left, rest, a.At(left, 0));
  for (int64_t& pivot : rest) pivot += left;
  return std::nullopt;
}

}  // namespace dogged

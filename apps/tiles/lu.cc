#include "apps/tiles/lu.h"

#include <algorithm>
#include <cmath>

#include "apps/tiles/micro_kernels.h"
#include "apps/tiles/strip_rows.h"
#include "apps/tiles/triangle.h"

namespace dogged {
namespace {

using blas::Matrix;

void Exchange(int64_t n, int64_t i, int64_t j, Matrix a) {
  if (i != j) std::swap_ranges(a.row(i), a.row(i) + n, a.row(j));
}

// The step that makes the elements of column `j` below its pivot multipliers.
StripStep StepOf(const StripRow& pivot_row, size_t j) {
  StripStep out{.column = static_cast<int64_t>(j), .scale = 1 / pivot_row[j]};
  std::copy(pivot_row.begin() + static_cast<ptrdiff_t>(j) + 1, pivot_row.end(),
            out.weights + j + 1);
  return out;
}

// Divides by a pivot whose inverse would overflow.
void DivideColumn(StripRows rows, size_t j) {
  for (size_t i = j + 1; i < rows.size(); ++i) rows[i][j] /= rows[j][j];
}

std::optional<LuFailure> FactorLuStrip(int64_t m, Matrix a,
                                       absl::Span<int64_t> pivots) {
  const size_t n = pivots.size();
  const StripRows rows = LoadStrip(m, std::ssize(pivots), a);
  const MicroKernels& kernels = blas::OwnKernels();
  StripPivot pivot = kernels.eliminate(m, {}, rows[0].data());
  for (size_t j = 0; j < n; ++j) {
    if (!pivot.is_finite || pivot.magnitude == 0) {
      return LuFailure{static_cast<int64_t>(j), pivot.is_finite};
    }
    const size_t at = j + static_cast<size_t>(pivot.row);
    pivots[j] = static_cast<int64_t>(at);
    std::swap(rows[j], rows[at]);
    if (j + 1 == rows.size()) break;
    StripStep step = StepOf(rows[j], j);
    if (!std::isfinite(step.scale)) {
      DivideColumn(rows, j);
      step.scale = 1;
    }
    pivot = kernels.eliminate(m - static_cast<int64_t>(j) - 1, step,
                              rows[j + 1].data());
  }
  StoreStrip(rows, std::ssize(pivots), a);
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

std::optional<LuFailure> FactorLu(int64_t m, Matrix a,
                                  absl::Span<int64_t> pivots) {
  const auto n = std::ssize(pivots);
  if (n <= kStrip) return FactorLuStrip(m, a, pivots);
  const int64_t left = LeftOfPanel(n);
  const int64_t right = n - left;
  const auto first = pivots.first(static_cast<size_t>(left));
  const auto rest = pivots.subspan(static_cast<size_t>(left));
  if (const auto failed = FactorLu(m, a, first)) return failed;
  ExchangeRows(right, first, a.At(0, left));
  SolveLeft(left, right, a, Diagonal::kUnit, a.At(0, left));
  blas::Product({m - left, right, left}, -1, a.At(left, 0), a.At(0, left), 1,
                a.At(left, left));
  auto failed = FactorLu(m - left, a.At(left, left), rest);
  if (failed.has_value()) {
    failed->column += left;
    return failed;
  }
  ExchangeRows(left, rest, a.At(left, 0));
  for (int64_t& pivot : rest) pivot += left;
  return std::nullopt;
}

}  // namespace dogged

#include "apps/verify/condition.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "apps/tiles/blas.h"
#include "apps/tiles/lu.h"
#include "apps/tiles/reflectors.h"
#include "apps/tiles/tile_call.h"
#include "runtime/graph/kernel.h"

namespace dogged {
namespace {

using Vector = std::vector<double>;

double SumOf(const Vector& x) {
  double out = 0;
  for (const double one : x) out += std::fabs(one);
  return out;
}

// The largest sum of a column's magnitudes; `first(i)` is the first column that
// row i has.
template <typename First>
double NormOfColumns(int64_t n, blas::ConstMatrix a, First first) {
  Vector sums(n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = first(i); j < n; ++j) sums[j] += std::fabs(a(i, j));
  }
  double out = 0;
  for (const double sum : sums) {
    if (!(sum <= out)) out = sum;  // NaN, too
  }
  return out;
}

// A matrix with zeros below its diagonal, where others may stand.
class Upper {
 public:
  Upper(int64_t n, blas::ConstMatrix a) : n_(n), a_(a) {}

  // x = A^-1 x
  void Solve(Vector& x) const {
    for (int64_t i = n_ - 1; i >= 0; --i) {
      for (int64_t j = i + 1; j < n_; ++j) x[i] -= a_(i, j) * x[j];
      x[i] /= a_(i, i);
    }
  }

  // x = A'^-1 x, row by row of A.
  void SolveTransposed(Vector& x) const {
    for (int64_t i = 0; i < n_; ++i) {
      x[i] /= a_(i, i);
      for (int64_t j = i + 1; j < n_; ++j) x[j] -= a_(i, j) * x[i];
    }
  }

 private:
  int64_t n_;
  blas::ConstMatrix a_;
};

// A matrix by its factors, which FactorLu() has made.
class Factored {
 public:
  Factored(int64_t n, blas::ConstMatrix factors,
           const std::vector<int64_t>& pivots)
      : n_(n), upper_(n, factors), factors_(factors), pivots_(pivots) {}

  // x = A^-1 x
  void Solve(Vector& x) const {
    ExchangeRows(1, pivots_, {x.data(), 1});
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t j = 0; j < i; ++j) x[i] -= factors_(i, j) * x[j];
    }
    upper_.Solve(x);
  }

  // x = A'^-1 x, row by row of the factors.
  void SolveTransposed(Vector& x) const {
    upper_.SolveTransposed(x);
    for (int64_t i = n_ - 1; i >= 0; --i) {
      for (int64_t j = 0; j < i; ++j) x[j] -= factors_(i, j) * x[i];
    }
    ExchangeRowsBack(1, pivots_, {x.data(), 1});
  }

 private:
  int64_t n_;
  Upper upper_;
  blas::ConstMatrix factors_;
  const std::vector<int64_t>& pivots_;
};

// ||A^-1||_1, from below, of a matrix that solves as Upper does.
template <typename Matrix>
double NormOfInverse(int64_t n, const Matrix& a) {
  constexpr int kStepsMax = 5;
  Vector x(n, 1.0 / static_cast<double>(n));
  double out = 0;
  int64_t last = -1;
  for (int step = 0; step < kStepsMax; ++step) {
    a.Solve(x);
    const double sum = SumOf(x);
    if (!std::isfinite(sum)) return std::numeric_limits<double>::infinity();
    if (sum <= out) break;
    out = sum;
    for (double& one : x) one = one < 0 ? -1 : 1;
    a.SolveTransposed(x);
    const auto largest = std::max_element(
        x.begin(), x.end(),
        [](double b, double c) { return std::fabs(b) < std::fabs(c); });
    const int64_t at = largest - x.begin();
    if (at == last) break;
    last = at;
    x.assign(static_cast<size_t>(n), 0);
    x[at] = 1;
  }
  // Where those steps meet zeros by chance, this one does not.
  for (int64_t i = 0; i < n; ++i) {
    const double size =
        1 + static_cast<double>(i) /
                static_cast<double>(std::max<int64_t>(n - 1, 1));
    x[i] = i % 2 == 0 ? size : -size;
  }
  a.Solve(x);
  return std::max(out, 2 * SumOf(x) / (3 * static_cast<double>(n)));
}

// Of a matrix with more rows than columns, which this overwrites.
double EstimateTall(int64_t rows, int64_t n, blas::Matrix a) {
  Value t = Value::Allocate(ElementType::kDouble, {n, n});
  if (FactorQr(rows, n, a, MutableMatrixOf(t)).has_value()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double norm = NormOfColumns(n, a, [](int64_t i) { return i; });
  return norm * NormOfInverse(n, Upper(n, a));
}

}  // namespace

double EstimateCondition(Value a) {
  const int64_t n = ColumnCount(a);
  const int64_t rows = RowCount(a);
  a = TakeOrCopy(a);
  const blas::Matrix matrix = MutableMatrixOf(a);
  if (rows > n) return EstimateTall(rows, n, matrix);
  const double norm = NormOfColumns(n, matrix, [](int64_t) { return 0; });
  if (std::isnan(norm)) return norm;
  std::vector<int64_t> pivots(n);
  if (const auto failure = FactorLu(n, matrix, absl::MakeSpan(pivots));
      failure.has_value()) {
    return failure->is_zero ? std::numeric_limits<double>::infinity()
                            : std::numeric_limits<double>::quiet_NaN();
  }
  return norm * NormOfInverse(n, Factored(n, matrix, pivots));
}

}  // namespace dogged

#include "apps/tiles/reflectors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace dogged {
namespace {

using blas::ConstMatrix;
using blas::Matrix;

// Columns that are reflected one by one: a cache line of each row, copied to
// where rows follow one another.
constexpr int64_t kStrip = 8;
using Row = std::array<double, kStrip>;

// The first k rows of v with the ones and zeros that are understood there.
class Top {
 public:
  Top(int64_t k, ConstMatrix v) : content_(static_cast<size_t>(k * k)), k_(k) {
    for (int64_t i = 0; i < k; ++i) {
      std::copy_n(v.row(i), i, matrix().row(i));
      matrix()(i, i) = 1;
    }
  }
  Matrix matrix() { return {content_.data(), k_}; }

 private:
  std::vector<double> content_;
  int64_t k_;
};

// The Euclidean length of column `j` from row `first` on, without overflow.
double Length(const std::vector<Row>& rows, size_t first, size_t j) {
  double sum = 0;
  double largest = 0;
  for (size_t i = first; i < rows.size(); ++i) {
    sum += rows[i][j] * rows[i][j];
    largest = std::max(largest, std::abs(rows[i][j]));
  }
  if (sum == 0 && largest == 0) return 0;
  if (std::isnan(sum) || std::isinf(largest)) return sum;
  if (sum > 1e-280 && sum < 1e280) return std::sqrt(sum);
  double scaled = 0;
  for (size_t i = first; i < rows.size(); ++i) {
    const double x = rows[i][j] / largest;
    scaled += x * x;
  }
  return largest * std::sqrt(scaled);
}

// Makes column `j` of `rows` zero below the diagonal; v takes the place of the
// zeros. False if the column is not finite.
bool ReflectColumn(std::vector<Row>& rows, size_t j, double& tau) {
  const double rest = Length(rows, j + 1, j);
  const double alpha = rows[j][j];
  tau = 0;
  if (!std::isfinite(rest) || !std::isfinite(alpha)) return false;
  if (rest == 0) return true;
  const double beta = -std::copysign(std::hypot(alpha, rest), alpha);
  tau = (beta - alpha) / beta;
  for (size_t i = j + 1; i < rows.size(); ++i) rows[i][j] /= alpha - beta;
  Row sums = rows[j];
  for (size_t i = j + 1; i < rows.size(); ++i) {
    const double v = rows[i][j];
    for (size_t c = 0; c < kStrip; ++c) sums[c] += v * rows[i][c];
  }
  for (double& sum : sums) sum *= tau;
  std::fill_n(sums.begin(), j + 1, 0.0);
  for (size_t c = j + 1; c < kStrip; ++c) rows[j][c] -= sums[c];
  for (size_t i = j + 1; i < rows.size(); ++i) {
    const double v = rows[i][j];
    for (size_t c = 0; c < kStrip; ++c) rows[i][c] -= v * sums[c];
  }
  rows[j][j] = beta;
  return true;
}

// Column `j` of t: -tau * t * v' * v(j) above the diagonal, tau on it.
void ExtendT(const std::vector<Row>& rows, size_t j, double tau, Matrix t) {
  Row products = rows[j];  // v' * v(j), by column before j
  for (size_t i = j + 1; i < rows.size(); ++i) {
    const double v = rows[i][j];
    for (size_t c = 0; c < kStrip; ++c) products[c] += rows[i][c] * v;
  }
  const auto column = static_cast<int64_t>(j);
  for (int64_t r = 0; r < column; ++r) {
    double sum = 0;
    for (int64_t c = r; c < column; ++c) {
      sum += t(r, c) * products[static_cast<size_t>(c)];
    }
    t(r, column) = -tau * sum;
    t(column, r) = 0;
  }
  t(column, column) = tau;
}

std::optional<int64_t> FactorStrip(int64_t m, int64_t n, Matrix a, Matrix t) {
  std::vector<Row> rows(static_cast<size_t>(m));
  for (int64_t i = 0; i < m; ++i) {
    std::copy_n(a.row(i), n, rows[static_cast<size_t>(i)].begin());
  }
  for (int64_t j = 0; j < n; ++j) {
    double tau = 0;
    if (!ReflectColumn(rows, static_cast<size_t>(j), tau)) return j;
    ExtendT(rows, static_cast<size_t>(j), tau, t);
  }
  for (int64_t i = 0; i < m; ++i) {
    std::copy_n(rows[static_cast<size_t>(i)].begin(), n, a.row(i));
  }
  return std::nullopt;
}

// The part of t above the diagonal that two halves have in common:
// -t1 * (v1' * v2) * t2.
void JoinT(int64_t m, int64_t left, int64_t right, ConstMatrix a, Matrix t) {
  std::vector<double> content(static_cast<size_t>(left * right));
  const Matrix spare{content.data(), right};
  const Matrix corner = t.At(0, left);
  Top top(right, a.At(left, left));
  blas::TransposedProduct({left, right, right}, 1, a.At(left, 0), top.matrix(),
                          0, corner);
  if (m > left + right) {
    blas::TransposedProduct({left, right, m - left - right}, 1,
                            a.At(left + right, 0), a.At(left + right, left), 1,
                            corner);
  }
  blas::Product({left, right, left}, -1, t, corner, 0, spare);
  blas::Product({left, right, right}, 1, spare, t.At(left, left), 0, corner);
  for (int64_t i = left; i < left + right; ++i) {
    std::fill_n(t.row(i), left, 0.0);
  }
}

}  // namespace

std::optional<int64_t> FactorQr(int64_t m, int64_t n, Matrix a, Matrix t) {
  if (n <= kStrip) return FactorStrip(m, n, a, t);
  const int64_t left = (n / 2 + kStrip - 1) / kStrip * kStrip;
  const int64_t right = n - left;
  if (const auto failed = FactorQr(m, left, a, t)) return failed;
  ApplyReflectors(Reflect::kTransposed, {m, right, left}, a, t, a.At(0, left));
  const auto failed =
      FactorQr(m - left, right, a.At(left, left), t.At(left, left));
  if (failed.has_value()) return left + *failed;
  JoinT(m, left, right, a, t);
  return std::nullopt;
}

void ApplyReflectors(Reflect direction, const blas::Extents& extents,
                     ConstMatrix v, ConstMatrix t, Matrix c) {
  const auto [m, n, k] = extents;
  if (n == 0 || k == 0) return;
  Top top(k, v);
  std::vector<double> content(static_cast<size_t>(2 * k * n));
  const Matrix products{content.data(), n};
  const Matrix scaled{content.data() + k * n, n};
  blas::TransposedProduct({k, n, k}, 1, top.matrix(), c, 0, products);
  if (m > k) {
    blas::TransposedProduct({k, n, m - k}, 1, v.At(k, 0), c.At(k, 0), 1,
                            products);
  }
  if (direction == Reflect::kForward) {
    blas::Product({k, n, k}, 1, t, products, 0, scaled);
  } else {
    blas::TransposedProduct({k, n, k}, 1, t, products, 0, scaled);
  }
  blas::Product({k, n, k}, -1, top.matrix(), scaled, 1, c);
  if (m > k) {
    blas::Product({m - k, n, k}, -1, v.At(k, 0), scaled, 1, c.At(k, 0));
  }
}

}  // namespace dogged

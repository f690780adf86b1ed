#include "apps/tiles/reflectors.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/tiles/micro_kernels.h"
#include "apps/tiles/strip_rows.h"

namespace dogged {
namespace {

using blas::ConstMatrix;
using blas::Matrix;

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
double Length(StripRows rows, size_t first, size_t j) {
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

// What a column's reflector is to the others of its strip.
struct Reflector {
  double tau = 0;
  // Of columns before it: their vectors times its own.
  StripRow products{};
};

// Makes column `j` of `rows` zero below the diagonal; v takes the place of the
// zeros. None if the column is not finite. In steps that neither overflow nor
// lose what is small.
std::optional<Reflector> ReflectWithCare(StripRows rows, size_t j) {
  const double rest = Length(rows, j + 1, j);
  const double alpha = rows[j][j];
  Reflector out;
  if (!std::isfinite(rest) || !std::isfinite(alpha)) return std::nullopt;
  if (rest != 0) {
    const double beta = -std::copysign(std::hypot(alpha, rest), alpha);
    out.tau = (beta - alpha) / beta;
    for (size_t i = j + 1; i < rows.size(); ++i) rows[i][j] /= alpha - beta;
    StripRow sums = rows[j];
    for (size_t i = j + 1; i < rows.size(); ++i) {
      const double v = rows[i][j];
      for (size_t c = 0; c < kStrip; ++c) sums[c] += v * rows[i][c];
    }
    for (double& sum : sums) sum *= out.tau;
    std::fill_n(sums.begin(), j + 1, 0.0);
    for (size_t c = j + 1; c < kStrip; ++c) rows[j][c] -= sums[c];
    for (size_t i = j + 1; i < rows.size(); ++i) {
      const double v = rows[i][j];
      for (size_t c = 0; c < kStrip; ++c) rows[i][c] -= v * sums[c];
    }
    rows[j][j] = beta;
  }
  out.products = rows[j];
  for (size_t i = j + 1; i < rows.size(); ++i) {
    const double v = rows[i][j];
    for (size_t c = 0; c < kStrip; ++c) out.products[c] += rows[i][c] * v;
  }
  return out;
}

// A strip that is reflected column by column, in one pass over it for each.
class Strip {
 public:
  Strip(StripRows rows, const MicroKernels& kernels)
      : rows_(rows), kernels_(kernels) {
    Pass(1, {});
  }

  // The next column; none if it is not finite.
  std::optional<Reflector> Reflect() {
    const auto j = static_cast<size_t>(column_++);
    if (!IsTame(j)) {
      const std::optional<Reflector> out = ReflectWithCare(rows_, j);
      StripStep unchanged;
      // Multiplies that column by 1, and takes nothing from others.
      unchanged.column = static_cast<int64_t>(j);
      unchanged.scale = 1;
      Pass(j + 2, unchanged);
      return out;
    }
    StripRow& row = rows_[j];
    const double alpha = row[j];
    const double beta =
        -std::copysign(std::hypot(alpha, std::sqrt(sums_[j])), alpha);
    StripStep step{.column = static_cast<int64_t>(j),
                   .scale = 1 / (alpha - beta)};
    Reflector out{.tau = (beta - alpha) / beta};
    for (size_t c = 0; c < kStrip; ++c) {
      // Of v and column c; where c is before j, of v and what has its place.
      out.products[c] = row[c] + sums_[c] * step.scale;
      if (c > j) step.weights[c] = out.tau * out.products[c];
    }
    for (size_t c = j + 1; c < kStrip; ++c) row[c] -= step.weights[c];
    row[j] = beta;
    // The next diagonal element is in no sum.
    if (j + 1 < rows_.size()) Advance(j + 1, 1, step);
    Pass(j + 2, step);
    return out;
  }

 private:
  // The sums can be trusted: nothing has overflown or got lost in them.
  bool IsTame(size_t j) const {
    bool is_finite = std::isfinite(rows_[j][j]);
    for (const double sum : sums_) is_finite = is_finite && std::isfinite(sum);
    return is_finite && sums_[j] > 1e-280 && sums_[j] < 1e280;
  }
  void Advance(size_t first, size_t count, const StripStep& step) {
    kernels_.reflect(static_cast<int64_t>(count), step, rows_[first].data(),
                     sums_.data());
  }
  // Takes all rows from `first` on a step further.
  void Pass(size_t first, const StripStep& step) {
    sums_ = {};
    if (first < rows_.size()) Advance(first, rows_.size() - first, step);
  }

  const StripRows rows_;
  const MicroKernels& kernels_;
  int64_t column_ = 0;
  StripRow
      sums_{};  // of the next column's products with all, below its diagonal
};

// Column `j` of t: -tau * t * v' * v(j) above the diagonal, tau on it.
void ExtendT(const Reflector& reflector, int64_t column, Matrix t) {
  for (int64_t r = 0; r < column; ++r) {
    double sum = 0;
    for (int64_t c = r; c < column; ++c) {
      sum += t(r, c) * reflector.products[static_cast<size_t>(c)];
    }
    t(r, column) = -reflector.tau * sum;
    t(column, r) = 0;
  }
  t(column, column) = reflector.tau;
}

std::optional<int64_t> FactorStrip(int64_t m, int64_t n, Matrix a, Matrix t) {
  const StripRows rows = LoadStrip(m, n, a);
  Strip strip(rows, blas::OwnKernels());
  for (int64_t j = 0; j < n; ++j) {
    const std::optional<Reflector> reflector = strip.Reflect();
    if (!reflector.has_value()) return j;
    ExtendT(*reflector, j, t);
  }
  StoreStrip(rows, n, a);
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
  blas::Product({left, right, left, blas::Zeros::kBelowDiagonal}, -1, t, corner,
                0, spare);
  blas::Product({left, right, right}, 1, spare, t.At(left, left), 0, corner);
  for (int64_t i = left; i < left + right; ++i) {
    std::fill_n(t.row(i), left, 0.0);
  }
}

}  // namespace

std::optional<int64_t> FactorQr(int64_t m, int64_t n, Matrix a, Matrix t) {
  if (n <= kStrip) return FactorStrip(m, n, a, t);
  const int64_t left = LeftOfPanel(n);
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
  const auto [m, n, k, zeros] = extents;
  if (n == 0 || k == 0) return;
  Top top(k, v);
  std::vector<double> content(static_cast<size_t>(2 * k * n));
  const Matrix products{content.data(), n};
  const Matrix scaled{content.data() + k * n, n};
  constexpr auto kAbove = blas::Zeros::kAboveDiagonal;
  constexpr auto kBelow = blas::Zeros::kBelowDiagonal;
  blas::TransposedProduct({k, n, k, kBelow}, 1, top.matrix(), c, 0, products);
  if (m > k) {
    blas::TransposedProduct({k, n, m - k}, 1, v.At(k, 0), c.At(k, 0), 1,
                            products);
  }
  if (direction == Reflect::kForward) {
    blas::Product({k, n, k, kBelow}, 1, t, products, 0, scaled);
  } else {
    blas::TransposedProduct({k, n, k, kAbove}, 1, t, products, 0, scaled);
  }
  blas::Product({k, n, k, kAbove}, -1, top.matrix(), scaled, 1, c);
  if (m > k) {
    blas::Product({m - k, n, k}, -1, v.At(k, 0), scaled, 1, c.At(k, 0));
  }
}

}  // namespace dogged

#include "apps/tiles/reflectors.h"

#include <algorithm>
#include <cmath>
#include <utility>
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

// Lengths of columns, and products with them, overflow beyond that.
constexpr double kTame = 0x1p+900;
constexpr int kTameExponent = 900;

// A column that is multiplied by a power of two for a while.
template <typename At>
class ScaledColumn {
 public:
  // at(i) is element i, of `count`. A column that is not finite stays as it is,
  // and so does a small one unless it `may_grow`.
  ScaledColumn(At at, size_t count, bool may_grow)
      : at_(std::move(at)), count_(count) {
    double largest = 0;
    for (size_t i = 0; i < count_; ++i) {
      is_finite_ = is_finite_ && std::isfinite(at_(i));
      largest = std::max(largest, std::abs(at_(i)));
    }
    if (!is_finite_ || largest == 0) return;
    const int exponent = std::ilogb(largest);
    const bool is_large = exponent > kTameExponent;
    const bool is_small = may_grow && exponent < -kTameExponent;
    if (!is_large && !is_small) return;
    exponent_ = exponent;
    Multiply(count_, -exponent);
  }
  bool is_finite() const { return is_finite_; }
  // The first `count` elements as they would be without it. False if they were
  // finite, and are not any more.
  bool Restore(size_t count) {
    if (exponent_ != 0) Multiply(count, exponent_);
    if (!is_finite_) return true;
    bool out = true;
    for (size_t i = 0; i < count; ++i) out = out && std::isfinite(at_(i));
    return out;
  }

 private:
  void Multiply(size_t count, int exponent) {
    for (size_t i = 0; i < count; ++i) at_(i) = std::ldexp(at_(i), exponent);
  }

  const At at_;
  const size_t count_;
  bool is_finite_ = true;
  int exponent_ = 0;
};

// The Euclidean length of column `j` from row `first` on, of which no element
// exceeds kTame.
double Length(StripRows rows, size_t first, size_t j) {
  double sum = 0;
  double largest = 0;
  for (size_t i = first; i < rows.size(); ++i) {
    sum += rows[i][j] * rows[i][j];
    largest = std::max(largest, std::abs(rows[i][j]));
  }
  if (largest == 0) return 0;
  if (sum > 1e-280 && sum < 1e280) return std::sqrt(sum);
  double scaled = 0;
  for (size_t i = first; i < rows.size(); ++i) {
    const double x = rows[i][j] / largest;
    scaled += x * x;
  }
  return largest * std::sqrt(scaled);
}

// The reflector of a column, as the other columns of its strip need it.
struct Reflector {
  double tau = 0;
  // Products of the vectors of columns before it with its own.
  StripRow products{};
  std::optional<QrFailure> failure;
};

// Reflects column `j` of `rows`, finite and scaled, and applies that to the
// columns behind it.
Reflector ReflectScaled(StripRows rows, size_t j) {
  const double rest = Length(rows, j + 1, j);
  const double alpha = rows[j][j];
  Reflector out;
  if (rest == 0) return out;
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
  return out;
}

// Makes column `j` of `rows` zero below the diagonal; v takes the place of the
// zeros. In steps that neither overflow nor lose small numbers.
Reflector ReflectWithCare(StripRows rows, size_t j) {
  const auto scaled = [&](size_t c) {
    const auto at = [rows, j, c](size_t i) -> double& {
      return rows[j + i][c];
    };
    return ScaledColumn(at, rows.size() - j, /*may_grow=*/c == j);
  };
  auto column = scaled(j);
  Reflector out;
  const auto number = static_cast<int64_t>(j);
  if (!column.is_finite()) {
    out.failure = {number, /*overflows=*/false};
    return out;
  }
  std::vector<decltype(column)> others;
  for (size_t c = j + 1; c < kStrip; ++c) others.push_back(scaled(c));
  out = ReflectScaled(rows, j);
  // Below the diagonal stands v.
  if (!column.Restore(1)) out.failure = {number, /*overflows=*/true};
  for (size_t c = j + 1; c < kStrip; ++c) {
    const bool fits = others[c - j - 1].Restore(rows.size() - j);
    if (fits || out.failure.has_value()) continue;
    out.failure = {static_cast<int64_t>(c), /*overflows=*/true};
  }
  out.products = rows[j];
  for (size_t i = j + 1; i < rows.size(); ++i) {
    const double v = rows[i][j];
    for (size_t c = 0; c < j; ++c) out.products[c] += rows[i][c] * v;
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

  // The next column.
  Reflector Reflect() {
    const auto j = static_cast<size_t>(column_++);
    StripRow& row = rows_[j];
    const double alpha = row[j];
    const double beta =
        -std::copysign(std::hypot(alpha, std::sqrt(sums_[j])), alpha);
    StripStep step{.column = static_cast<int64_t>(j),
                   .scale = 1 / (alpha - beta)};
    Reflector out{.tau = (beta - alpha) / beta};
    for (size_t c = 0; c < kStrip; ++c) {
      // Product of v and column c; where c is before j, of v and the vector
      // that has its place.
      out.products[c] = row[c] + sums_[c] * step.scale;
      if (c > j) step.weights[c] = out.tau * out.products[c];
    }
    if (!IsTame(j, out)) return WithCare(j);
    for (size_t c = j + 1; c < kStrip; ++c) row[c] -= step.weights[c];
    row[j] = beta;
    // The next diagonal element is in no sum.
    if (j + 1 < rows_.size()) Advance(j + 1, 1, step);
    Pass(j + 2, step);
    return out;
  }

 private:
  Reflector WithCare(size_t j) {
    Reflector out = ReflectWithCare(rows_, j);
    StripStep unchanged;
    // Multiplies that column by 1, and takes nothing from the others.
    unchanged.column = static_cast<int64_t>(j);
    unchanged.scale = 1;
    Pass(j + 2, unchanged);
    return out;
  }
  // True if the sums can be trusted, and all computed from them: nothing has
  // overflown or got lost there.
  bool IsTame(size_t j, const Reflector& reflector) const {
    bool out =
        std::abs(rows_[j][j]) < kTame && sums_[j] > 1e-280 && sums_[j] < 1e280;
    for (size_t c = 0; c < kStrip; ++c) {
      out = out && std::isfinite(sums_[c]) &&
            (c < j || std::abs(reflector.products[c]) < kTame);
    }
    return out;
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
      sum += t(r, c) * reflector.products[c];
    }
    t(r, column) = -reflector.tau * sum;
    t(column, r) = 0;
  }
  t(column, column) = reflector.tau;
}

std::optional<QrFailure> FactorQrStrip(int64_t m, int64_t n, Matrix a,
                                       Matrix t) {
  const StripRows rows = LoadStrip(m, n, a);
  Strip strip(rows, blas::OwnKernels());
  for (int64_t j = 0; j < n; ++j) {
    const Reflector reflector = strip.Reflect();
    if (reflector.failure.has_value()) return reflector.failure;
    ExtendT(reflector, j, t);
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

// How to apply k reflectors to c, m x n.
struct Application {
  Reflect direction;
  blas::Extents extents;
  ConstMatrix v;
  ConstMatrix t;
  Top top;
  std::vector<double> content;

  Application(Reflect way, const blas::Extents& e, ConstMatrix vectors,
              ConstMatrix factors)
      : direction(way),
        extents(e),
        v(vectors),
        t(factors),
        top(e.k, vectors),
        content(static_cast<size_t>(2 * e.k * e.n)) {}

  Matrix products() { return {content.data(), extents.n}; }

  // products = v' * c. False if they, or sums with them, may overflow.
  bool MakeProducts(ConstMatrix c) {
    const auto [m, n, k, zeros] = extents;
    blas::TransposedProduct({k, n, k, blas::Zeros::kBelowDiagonal}, 1,
                            top.matrix(), c, 0, products());
    if (m > k) {
      blas::TransposedProduct({k, n, m - k}, 1, v.At(k, 0), c.At(k, 0), 1,
                              products());
    }
    bool out = true;
    for (int64_t i = 0; i < k * n; ++i) out &= std::abs(content[i]) < kTame;
    return out;
  }
  // c = c - v * (t or t') * products.
  void Subtract(Matrix c) {
    const auto [m, n, k, zeros] = extents;
    const Matrix scaled{content.data() + k * n, n};
    constexpr auto kAbove = blas::Zeros::kAboveDiagonal;
    if (direction == Reflect::kForward) {
      blas::Product({k, n, k, blas::Zeros::kBelowDiagonal}, 1, t, products(), 0,
                    scaled);
    } else {
      blas::TransposedProduct({k, n, k, kAbove}, 1, t, products(), 0, scaled);
    }
    blas::Product({k, n, k, kAbove}, -1, top.matrix(), scaled, 1, c);
    if (m > k) {
      blas::Product({m - k, n, k}, -1, v.At(k, 0), scaled, 1, c.At(k, 0));
    }
  }
};

// The same to columns that are scaled meanwhile. Returns as ApplyReflectors().
std::optional<int64_t> ApplyWithCare(Application& application, Matrix c) {
  const auto scaled = [c, &application](int64_t j) {
    const auto at = [c, j](size_t i) -> double& {
      return c(static_cast<int64_t>(i), j);
    };
    return ScaledColumn(at, static_cast<size_t>(application.extents.m),
                        /*may_grow=*/false);
  };
  std::vector<decltype(scaled(0))> columns;
  for (int64_t j = 0; j < application.extents.n; ++j) {
    columns.push_back(scaled(j));
  }
  application.MakeProducts(c);
  application.Subtract(c);
  std::optional<int64_t> failed;
  for (int64_t j = application.extents.n; j-- > 0;) {
    const auto rows = static_cast<size_t>(application.extents.m);
    if (!columns[j].Restore(rows)) failed = j;
  }
  return failed;
}

}  // namespace

std::optional<QrFailure> FactorQr(int64_t m, int64_t n, Matrix a, Matrix t) {
  if (n <= kStrip) return FactorQrStrip(m, n, a, t);
  const int64_t left = LeftOfPanel(n);
  const int64_t right = n - left;
  if (const auto failed = FactorQr(m, left, a, t)) return failed;
  const auto overflown = ApplyReflectors(Reflect::kTransposed, {m, right, left},
                                         a, t, a.At(0, left));
  if (overflown.has_value()) {
    return QrFailure{left + *overflown, /*overflows=*/true};
  }
  auto failed = FactorQr(m - left, right, a.At(left, left), t.At(left, left));
  if (failed.has_value()) {
    failed->column += left;
    return failed;
  }
  JoinT(m, left, right, a, t);
  return std::nullopt;
}

std::optional<int64_t> ApplyReflectors(Reflect direction,
                                       const blas::Extents& extents,
                                       ConstMatrix v, ConstMatrix t, Matrix c) {
  if (extents.n == 0 || extents.k == 0) return std::nullopt;
  Application application(direction, extents, v, t);
  if (!application.MakeProducts(c)) return ApplyWithCare(application, c);
  application.Subtract(c);
  return std::nullopt;
}

}  // namespace dogged

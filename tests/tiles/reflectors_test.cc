// Aim: QR within columns gives A = Q R with an orthogonal Q at every size
// around the borders of its recursion, and for very large and small numbers.
// Method: Q made explicit from the reflectors, in plain loops.
#include "apps/tiles/reflectors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "apps/tiles/blas_kernels.h"
#include "gmock/gmock.h"
#include "runtime/base/random.h"

namespace dogged {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
constexpr double kLargest = std::numeric_limits<double>::max();

std::vector<double> Random(uint64_t seed, int64_t count, double scale) {
  Rng rng(seed);
  std::vector<double> out(static_cast<size_t>(count));
  for (double& x : out) x = (rng.Unit() - 0.5) * scale;
  return out;
}

struct Factors {
  std::vector<double> q;  // m x m
  std::vector<double> r;  // m x n
};

Factors FactorsOf(int64_t m, int64_t n, std::vector<double> a) {
  std::vector<double> t(static_cast<size_t>(n * n), 5.0);
  const blas::Matrix v{a.data(), n};
  EXPECT_FALSE(FactorQr(m, n, v, {t.data(), n}).has_value());
  Factors out;
  out.q.assign(static_cast<size_t>(m * m), 0);
  for (int64_t i = 0; i < m; ++i) out.q[i * m + i] = 1;
  ApplyReflectors(Reflect::kForward, {m, m, n}, v, {t.data(), n},
                  {out.q.data(), m});
  out.r.assign(static_cast<size_t>(m * n), 0);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i; j < n; ++j) {
      out.r[i * n + j] = v(i, j);
    }
  }
  return out;
}

// The largest element of left * right - expected.
double Distance(const blas::Extents& extents, const std::vector<double>& left,
                const std::vector<double>& right,
                const std::vector<double>& expected) {
  const auto [m, n, k, zeros] = extents;
  double worst = 0;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double rest = -expected[i * n + j];
      for (int64_t p = 0; p < k; ++p) {
        rest += left[i * k + p] * right[p * n + j];
      }
      worst = std::max(worst, std::abs(rest));
    }
  }
  return worst;
}

TEST(Reflectors, MakeAnOrthogonalFactor) {
  EXPECT_TRUE(SetUpBlas().ok());
  for (const double scale : {1.0, 1e-200, 1e200, 1e-310, 1e306}) {
    for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{
             {1, 1}, {2, 1}, {8, 8}, {9, 9}, {30, 7}, {33, 32}, {90, 65}}) {
      SCOPED_TRACE(testing::Message() << m << " x " << n << " by " << scale);
      const std::vector<double> a = Random(1, m * n, scale);
      const Factors f = FactorsOf(m, n, a);
      const double limit = 4 * kEps * static_cast<double>(m);
      // The smallest numbers are multiples of the smallest.
      const double steps = 4 * static_cast<double>(m * n) * kSmallest;
      EXPECT_LT(Distance({m, n, m}, f.q, f.r, a), limit * scale + steps);
      std::vector<double> one(static_cast<size_t>(m * m), 0);
      std::vector<double> transposed = one;
      for (int64_t i = 0; i < m; ++i) {
        one[i * m + i] = 1;
        for (int64_t j = 0; j < m; ++j) {
          transposed[i * m + j] = f.q[j * m + i];
        }
      }
      EXPECT_LT(Distance({m, m, m}, transposed, f.q, one), limit);
    }
  }
}

TEST(Reflectors, UndoThemselves) {
  constexpr int64_t kM = 70;
  constexpr int64_t kN = 40;
  std::vector<double> a = Random(2, kM * kN, 1);
  std::vector<double> t(kN * kN);
  const blas::Matrix v{a.data(), kN};
  ASSERT_FALSE(FactorQr(kM, kN, v, {t.data(), kN}).has_value());
  const std::vector<double> before = Random(3, kM * 3, 1);
  std::vector<double> c = before;
  ApplyReflectors(Reflect::kTransposed, {kM, 3, kN}, v, {t.data(), kN},
                  {c.data(), 3});
  EXPECT_GT(std::abs(c[0] - before[0]), 1e-3);
  ApplyReflectors(Reflect::kForward, {kM, 3, kN}, v, {t.data(), kN},
                  {c.data(), 3});
  for (size_t i = 0; i < c.size(); ++i) EXPECT_NEAR(c[i], before[i], 1e-14);
}

TEST(Reflectors, FactorAMatrixOfZeros) {
  const Factors f = FactorsOf(20, 10, std::vector<double>(200, 0.0));
  for (const double x : f.r) EXPECT_EQ(x, 0);
}

// A column is as long as a double can say, so that what goes between is longer.
TEST(Reflectors, AreRightUpToTheLargestDouble) {
  for (const double share : {0.5, 0.6, 0.99}) {
    for (const int64_t before : {0, 1, 7, 8, 20}) {
      SCOPED_TRACE(testing::Message() << share << " behind " << before);
      const int64_t n = before + 1;
      const int64_t m = n + 2;
      std::vector<double> a(static_cast<size_t>(m * n), 0);
      const blas::Matrix v{a.data(), n};
      for (int64_t i = 0; i < before; ++i) v(i, i) = v(i + 1, i) = 1;
      // Reflecting keeps the column's length; its rows are of all sorts.
      v(0, before) += 0.48 * share * kLargest;
      v(m - 2, before) = 0.6 * share * kLargest;
      v(m - 1, before) = 0.64 * share * kLargest;
      std::vector<double> t(static_cast<size_t>(n * n));
      const auto failed = FactorQr(m, n, v, {t.data(), n});
      ASSERT_FALSE(failed.has_value()) << failed->column;
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        const double x = v(i, before) / kLargest;
        sum += x * x;
      }
      EXPECT_NEAR(std::sqrt(sum), share, 1e-14);
      for (const double x : t) EXPECT_LE(std::abs(x), 2);
    }
  }
  // v and t do not depend on the scale.
  for (const double scale : {1.0, kLargest * 0.6, 1e-320}) {
    double a[] = {0.8 * scale, 0.6 * scale, 0};
    double t = 0;
    ASSERT_FALSE(FactorQr(3, 1, {a, 1}, {&t, 1}).has_value());
    const double precision = scale < 1e-300 ? 1e-3 : 1e-15;
    EXPECT_NEAR(a[1], 1.0 / 3, precision);
    EXPECT_EQ(a[2], 0);
    EXPECT_NEAR(t, 1.8, precision);
  }
}

TEST(Reflectors, NameTheColumnThatIsTooLong) {
  for (const int64_t bad : {0, 5, 8, 39}) {
    std::vector<double> a = Random(4, 60 * 40, 1);
    std::vector<double> t(40 * 40);
    for (int64_t i = 0; i < 60; ++i) {
      a[i * 40 + bad] = kLargest;
    }
    const auto failed = FactorQr(60, 40, {a.data(), 40}, {t.data(), 40});
    ASSERT_TRUE(failed.has_value()) << bad;
    EXPECT_EQ(failed->column, bad);
    EXPECT_TRUE(failed->overflows) << bad;
  }
}

TEST(Reflectors, NameTheColumnThatIsNotFinite) {
  for (const double x : {std::numeric_limits<double>::quiet_NaN(),
                         std::numeric_limits<double>::infinity()}) {
    for (const int64_t bad : {0, 7, 8, 39}) {
      std::vector<double> a = Random(4, 60 * 40, 1);
      std::vector<double> t(40 * 40);
      a[50 * 40 + bad] = x;
      const auto failed = FactorQr(60, 40, {a.data(), 40}, {t.data(), 40});
      ASSERT_TRUE(failed.has_value());
      EXPECT_EQ(failed->column, bad);
      EXPECT_FALSE(failed->overflows);
    }
  }
}

}  // namespace
}  // namespace dogged

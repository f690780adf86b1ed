// Aim: LU within columns takes the largest pivot, is exact to rounding at every
// size around the borders of its recursion, and names what it can't use.
// Method: residual and multipliers over random matrices, row by row in plain
// loops; matrices with one spoilt column.
#include "apps/tiles/lu.h"

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

std::vector<double> Random(uint64_t seed, int64_t count) {
  Rng rng(seed);
  std::vector<double> out(static_cast<size_t>(count));
  for (double& x : out) x = rng.Unit() - 0.5;
  return out;
}

TEST(Lu, IsExactAndNoMultiplierExceedsOne) {
  EXPECT_TRUE(SetUpBlas().ok());
  for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 1}, {8, 8}, {9, 9}, {40, 7}, {64, 64}, {130, 65}, {300, 128}}) {
    SCOPED_TRACE(testing::Message() << m << " x " << n);
    std::vector<double> original = Random(1, m * n);
    std::vector<double> content = original;
    std::vector<int64_t> pivots(static_cast<size_t>(n));
    const blas::Matrix lu{content.data(), n};
    ASSERT_FALSE(FactorLu(m, lu, absl::MakeSpan(pivots)).has_value());
    const blas::Matrix a{original.data(), n};
    ExchangeRows(n, pivots, a);
    double worst = 0;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        if (i > j) {
          EXPECT_LE(std::abs(lu(i, j)), 1);
        }
        double rest = a(i, j);
        for (int64_t k = 0; k < std::min(i, j + 1); ++k) {
          rest -= lu(i, k) * lu(k, j);
        }
        if (i <= j) rest -= lu(i, j);
        worst = std::max(worst, std::abs(rest));
      }
    }
    EXPECT_LT(worst, 8 * kEps * static_cast<double>(n));
    ExchangeRowsBack(n, pivots, a);
    EXPECT_EQ(original, Random(1, m * n));
  }
}

TEST(Lu, DividesByAPivotWhoseInverseOverflows) {
  std::vector<double> content(30 * 2, 1e-310);
  for (size_t i = 0; i < 30; ++i) content[2 * i + 1] = i == 7 ? 2 : 1;
  content[2 * 20] = -4e-310;
  const blas::Matrix a{content.data(), 2};
  std::vector<int64_t> pivots(2);
  ASSERT_FALSE(FactorLu(30, a, absl::MakeSpan(pivots)).has_value());
  EXPECT_EQ(pivots, (std::vector<int64_t>{20, 7}));
  EXPECT_EQ(a(0, 0), -4e-310);
  EXPECT_EQ(a(5, 0), 1e-310 / -4e-310);
  EXPECT_EQ(a(1, 1), 2 - 1e-310 / -4e-310);
}

TEST(Lu, TellsWhatOverflowsFromWhatIsSingular) {
  const double large = std::numeric_limits<double>::max();
  for (const int64_t n : {2, 12}) {
    std::vector<double> content(static_cast<size_t>(n * n), 0);
    const blas::Matrix a{content.data(), n};
    for (int64_t i = 0; i < n; ++i) a(i, i) = 1;
    a(0, 0) = a(0, n - 1) = large;
    a(n - 1, 0) = -large;
    a(n - 1, n - 1) = large;
    std::vector<int64_t> pivots(static_cast<size_t>(n));
    const auto failed = FactorLu(n, a, absl::MakeSpan(pivots));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->column, n - 1);
    EXPECT_FALSE(failed->is_zero);
  }
}

TEST(Lu, NamesTheColumnWithoutAPivot) {
  for (const int64_t bad : {0, 7, 8, 40, 99}) {
    std::vector<double> content = Random(2, 120 * 100);
    const blas::Matrix a{content.data(), 100};
    std::vector<int64_t> pivots(100);
    for (int64_t i = 0; i < 120; ++i) a(i, bad) = 0;
    const auto singular = FactorLu(120, a, absl::MakeSpan(pivots));
    ASSERT_TRUE(singular.has_value());
    EXPECT_EQ(singular->column, bad);
    EXPECT_TRUE(singular->is_zero);
    for (const double x : {std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
      const std::vector<double> fresh = Random(2, 120 * 100);
      std::copy(fresh.begin(), fresh.end(), content.begin());
      a(110, bad) = x;
      const auto failed = FactorLu(120, a, absl::MakeSpan(pivots));
      ASSERT_TRUE(failed.has_value());
      EXPECT_LE(failed->column, bad);
      EXPECT_FALSE(failed->is_zero);
    }
  }
}

}  // namespace
}  // namespace dogged

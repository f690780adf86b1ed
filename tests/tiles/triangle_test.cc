// Aim: the triangular solves and the factorisation within a tile are as exact
// as substitution, at every size around the borders of their recursion.
// Method: residuals in units of the last place, over random matrices, with the
// micro-kernels of each width that this processor can run.
#include "apps/tiles/triangle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/base/random.h"
#include "tests/tiles/all_kernels.h"

namespace dogged {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

std::vector<double> Random(Rng& rng, int64_t count) {
  std::vector<double> out(static_cast<size_t>(count));
  for (double& x : out) x = rng.Unit() - 0.5;
  return out;
}

blas::Matrix In(std::vector<double>& content, int64_t columns) {
  return {content.data(), columns};
}

double Largest(const std::vector<double>& content) {
  double out = 0;
  for (const double x : content) out = std::max(out, std::abs(x));
  return out;
}

class Triangle : public testing::TestWithParam<const MicroKernels*> {};

INSTANTIATE_TEST_SUITE_P(Widths, Triangle, testing::ValuesIn(AllKernels()),
                         NameOfKernels);

TEST_P(Triangle, SolvesFromTheRight) {
  Rng rng(1);
  for (const int64_t n : {1, 3, 4, 5, 15, 16, 17, 32, 33, 100, 129, 200}) {
    for (const int64_t m : {1, 5, 6, 7, 12, 40}) {
      SCOPED_TRACE(testing::Message() << m << " x " << n);
      std::vector<double> l = Random(rng, n * n);
      for (int64_t i = 0; i < n; ++i) In(l, n)(i, i) = 4 + In(l, n)(i, i);
      const std::vector<double> b = Random(rng, m * n);
      std::vector<double> x = b;
      SolveRightTransposed(m, n, In(l, n), In(x, n), *GetParam());
      double worst = 0;
      for (int64_t r = 0; r < m; ++r) {
        for (int64_t j = 0; j < n; ++j) {
          double rest = b[r * n + j];
          for (int64_t k = 0; k <= j; ++k) {
            rest -= In(x, n)(r, k) * In(l, n)(j, k);
          }
          worst = std::max(worst, std::abs(rest));
        }
      }
      EXPECT_LT(worst, 4 * kEps * static_cast<double>(n) * Largest(x));
    }
  }
}

TEST_P(Triangle, SolvesFromTheLeft) {
  Rng rng(2);
  for (const auto diagonal : {Diagonal::kStored, Diagonal::kUnit}) {
    for (const int64_t m : {1, 5, 6, 7, 12, 13, 33, 64, 100, 200}) {
      const int64_t n = 3 + m % 16;
      SCOPED_TRACE(testing::Message() << m << " x " << n);
      std::vector<double> l = Random(rng, m * m);
      for (double& x : l) x /= 8;  // so that the unit triangle is tame
      for (int64_t i = 0; i < m; ++i) {
        In(l, m)(i, i) = diagonal == Diagonal::kUnit ? 77 : 3;
      }
      const std::vector<double> b = Random(rng, m * n);
      std::vector<double> x = b;
      SolveLeft(m, n, In(l, m), diagonal, In(x, n), *GetParam());
      double worst = 0;
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t c = 0; c < n; ++c) {
          double rest = b[i * n + c];
          for (int64_t k = 0; k < i; ++k)
            rest -= In(l, m)(i, k) * In(x, n)(k, c);
          rest -= (diagonal == Diagonal::kUnit ? 1 : 3) * In(x, n)(i, c);
          worst = std::max(worst, std::abs(rest));
        }
      }
      EXPECT_LT(worst, 4 * kEps * static_cast<double>(m) * Largest(x));
    }
  }
}

TEST(TriangleFactor, FactorsWithinALargerMatrix) {
  Rng rng(3);
  constexpr int64_t kStride = 230;
  for (const int64_t n : {1, 2, 31, 32, 33, 64, 65, 127, 128, 200}) {
    SCOPED_TRACE(testing::Message() << n << " rows");
    std::vector<double> a = Random(rng, n * kStride);
    for (int64_t i = 0; i < n; ++i) {
      In(a, kStride)(i, i) = static_cast<double>(n);
    }
    std::vector<double> l = a;
    ASSERT_FALSE(FactorCholesky(n, In(l, kStride)).has_value());
    double worst = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < kStride; ++j) {
        if (j > i) {  // as it was
          ASSERT_EQ(In(l, kStride)(i, j), In(a, kStride)(i, j));
          continue;
        }
        double rest = In(a, kStride)(i, j);
        for (int64_t k = 0; k <= j; ++k) {
          rest -= In(l, kStride)(i, k) * In(l, kStride)(j, k);
        }
        worst = std::max(worst, std::abs(rest));
      }
    }
    EXPECT_LT(worst, 2 * kEps * static_cast<double>(n) * std::sqrt(n));
  }
}

TEST(TriangleFactor, NamesThePivotThatIsNoSquare) {
  for (const double bad : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    for (const int64_t pivot : {0, 31, 32, 77, 99}) {
      std::vector<double> a(100 * 100, 0);
      for (int64_t i = 0; i < 100; ++i) In(a, 100)(i, i) = i == pivot ? bad : 1;
      EXPECT_EQ(FactorCholesky(100, In(a, 100)), pivot) << bad;
    }
  }
}

}  // namespace
}  // namespace dogged

// Aim: the condition of a matrix is told within a factor of a few, and a
// singular one by itself. Method: Hilbert's matrices, whose conditions are
// known, diagonal and rotated ones, a row that is there twice, NaN.
#include "apps/verify/condition.h"

#include <cmath>
#include <functional>
#include <limits>

#include "apps/tiles/blas_kernels.h"
#include "gtest/gtest.h"

namespace dogged {
namespace {

double ConditionOf(int64_t rows, int64_t n,
                   const std::function<double(int64_t, int64_t)>& element) {
  EXPECT_TRUE(SetUpBlas().ok());
  Value a = Value::Allocate(ElementType::kDouble, {rows, n});
  const absl::Span<double> elements = a.mutable_span<double>();
  for (int64_t k = 0; k < rows * n; ++k) elements[k] = element(k / n, k % n);
  a.Seal();
  return EstimateCondition(a);
}

double ConditionOf(int64_t n,
                   const std::function<double(int64_t, int64_t)>& element) {
  return ConditionOf(n, n, element);
}

double Hilbert(int64_t i, int64_t j) {
  return 1.0 / static_cast<double>(i + j + 1);
}

void ExpectWithin3(double got, double exact) {
  EXPECT_GT(got, exact / 3);
  EXPECT_LT(got, exact * 1.01);
}

TEST(Condition, IsThatOfKnownMatrices) {
  ExpectWithin3(ConditionOf(1, [](int64_t, int64_t) { return -7.0; }), 1);
  ExpectWithin3(ConditionOf(3, Hilbert), 748);
  ExpectWithin3(ConditionOf(6, Hilbert), 2.907e7);
  ExpectWithin3(ConditionOf(10, Hilbert), 3.535e13);
  ExpectWithin3(ConditionOf(100,
                            [](int64_t i, int64_t j) {
                              return i != j ? 0 : i == 70 ? -1e-9 : 1.0;
                            }),
                1e9);
  // The second differences of 99 points: the inverse's column in the middle
  // adds up to 100^2 / 8.
  ExpectWithin3(ConditionOf(99,
                            [](int64_t i, int64_t j) {
                              const int64_t off = std::abs(i - j);
                              return off == 0 ? 2.0 : off == 1 ? -1.0 : 0.0;
                            }),
                4 * 1250);
}

// Rows come in an order in which none is its own pivot.
TEST(Condition, OfExchangedRowsIsTheSame) {
  const auto turned = [](int64_t i, int64_t j) {
    return Hilbert((i + 3) % 6, j);
  };
  ExpectWithin3(ConditionOf(6, turned), 2.907e7);
  const auto across = [&turned](int64_t i, int64_t j) { return turned(j, i); };
  ExpectWithin3(ConditionOf(6, across), 2.907e7);
}

TEST(Condition, OfATallMatrixIsThatOfItsColumns) {
  // Of orthogonal columns, the lengths' ratio.
  const double lengths = ConditionOf(50, 4, [](int64_t i, int64_t j) {
    return i % 4 != j ? 0 : j == 2 ? 1e-7 : 1.0;
  });
  EXPECT_NEAR(lengths * 1e-7, 1, 0.1);
  // Hilbert's of order 6, over and over: 1.495e7 in the 2-norm.
  const double again = ConditionOf(
      300, 6, [](int64_t i, int64_t j) { return Hilbert(i % 6, j); });
  EXPECT_GT(again, 1.495e7 / 6);
  EXPECT_LT(again, 1.495e7 * 6);
  // A column that is a sum of others, and one of zeros.
  EXPECT_GT(ConditionOf(200, 5,
                        [](int64_t i, int64_t j) {
                          const auto x = static_cast<double>(i);
                          return j == 4   ? std::sin(x) + std::cos(x)
                                 : j == 3 ? std::sin(x)
                                 : j == 2
                                     ? std::cos(x)
                                     : std::sin(x * static_cast<double>(j + 2));
                        }),
            1e14);
  EXPECT_TRUE(std::isinf(ConditionOf(9, 3, [](int64_t i, int64_t j) {
    return j == 1 ? 0.0 : static_cast<double>(i + j * i * i + 1);
  })));
  EXPECT_TRUE(std::isnan(ConditionOf(9, 2, [](int64_t i, int64_t) {
    return i == 5 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  })));
}

TEST(Condition, OfASingularMatrixIsInfinite) {
  EXPECT_TRUE(std::isinf(ConditionOf(
      5, [](int64_t i, int64_t j) { return i == 3 ? 0 : i + j * j; })));
  EXPECT_GT(ConditionOf(40,
                        [](int64_t i, int64_t j) {
                          return std::sin(static_cast<double>(
                              (i == 9 ? 4 : i) * 40 + j * j));
                        }),
            1e15);
  EXPECT_TRUE(std::isnan(ConditionOf(4, [](int64_t i, int64_t j) {
    return i == j ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  })));
}

}  // namespace
}  // namespace dogged

// Aim: a sum is the same number whatever the order, and the nearest to the true
// one; NaN stays NaN.
// Method: random doubles of all sizes in two orders and in parts; against
// arithmetic that is exact by construction.
#include "dsl/kernels/exact_sum.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "dsl/kernels/reduce_kernel.h"
#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "tests/sim/serial.h"

namespace dogged::dsl {
namespace {

double SumOf(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) sum.Add(value);
  return sum.Round();
}

TEST(ExactSumTest, NoOrderShows) {
  constexpr uint64_t kSeed = 4711;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Rng rng(kSeed);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> values;
    const int spread = round % 2 == 0 ? 40 : 900;
    for (int i = 0; i < 100; ++i) {
      const double mantissa = static_cast<double>(rng.Below(1 << 30)) - 5e8;
      values.push_back(std::ldexp(
          mantissa, static_cast<int>(rng.Below(2 * spread)) - spread));
    }
    const double forward = SumOf(values);
    std::reverse(values.begin(), values.end());
    EXPECT_EQ(SumOf(values), forward);
    // In parts, which are joined in another order.
    ExactSum left;
    ExactSum right;
    for (size_t i = 0; i < values.size(); ++i) {
      (i % 3 == 0 ? left : right).Add(values[i]);
    }
    const auto words = left.Words();
    right.Add(absl::MakeConstSpan(words.data(), words.size()));
    EXPECT_EQ(right.Round(), forward);
    // All of it taken back leaves nothing.
    for (const double value : values) right.Add(-value);
    EXPECT_EQ(right.Round(), 0);
    EXPECT_FALSE(std::signbit(right.Round()));
  }
}

TEST(ExactSumTest, RoundsToNearestEven) {
  const double one_up = std::nextafter(1.0, 2.0);
  EXPECT_EQ(SumOf({1.0, std::ldexp(1.0, -53)}), 1.0);  // a tie: to even
  EXPECT_EQ(SumOf({one_up, std::ldexp(1.0, -53)}), std::nextafter(one_up, 2.0));
  EXPECT_EQ(SumOf({1.0, std::ldexp(1.0, -53), 5e-324}), one_up);
  EXPECT_EQ(SumOf({1.0, std::ldexp(1.0, -53), -5e-324}), 1.0);
  EXPECT_EQ(SumOf({-1.0, -std::ldexp(1.0, -53), -5e-324}), -one_up);
  EXPECT_EQ(SumOf({1e308, 1e308, -1e308}), 1e308);  // no overflow on the way
  EXPECT_EQ(SumOf({1e300, 1.0, -1e300}), 1.0);
  EXPECT_EQ(SumOf({5e-324, 5e-324}), 1e-323);
  EXPECT_EQ(SumOf({0.1, 0.2}), 0.1 + 0.2);
  EXPECT_EQ(SumOf({-0.0}), 0);
  EXPECT_FALSE(std::signbit(SumOf({-0.0})));
}

TEST(ExactSumTest, WhatIsNoNumber) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double largest = std::numeric_limits<double>::max();
  EXPECT_EQ(SumOf({1.0, infinity}), infinity);
  EXPECT_EQ(SumOf({-infinity, largest}), -infinity);
  EXPECT_TRUE(std::isnan(SumOf({infinity, 0.0, -infinity})));
  EXPECT_TRUE(std::isnan(SumOf({-std::nan(""), 1.0})));
  EXPECT_FALSE(std::signbit(SumOf({-std::nan(""), 1.0})));
  EXPECT_EQ(SumOf({largest, largest}), infinity);
}

// A term of some size, now and then none that sums go on from.
template <typename T>
T DrawTerm(Rng& rng, int spread) {
  const double special[] = {0,
                            -0.0,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::max(),
                            -std::numeric_limits<double>::max(),
                            std::numeric_limits<double>::denorm_min()};
  if (rng.Below(60) == 0) return static_cast<T>(special[rng.Below(8)]);
  const double mantissa = static_cast<double>(rng.Below(1 << 30)) - 5e8;
  return static_cast<T>(
      std::ldexp(mantissa, static_cast<int>(rng.Below(2 * spread)) - spread));
}

// Runs of points, most of them by quick sums, beside one point after another.
template <typename T>
void CheckRuns(Rng& rng, ReduceKind kind, ElementType element) {
  const int spread = rng.Below(2) == 0 ? 3 : 60;
  const int64_t count = 1 + rng.Below(200);
  const int64_t terms = rng.Below(9);
  std::vector<std::vector<T>> rows(static_cast<size_t>(terms));
  std::vector<const void*> operands;
  for (std::vector<T>& row : rows) {
    for (int64_t j = 0; j < count; ++j) {
      row.push_back(DrawTerm<T>(rng, spread));
    }
    operands.push_back(row.data());
  }
  std::vector<T> out(static_cast<size_t>(count));
  ReduceEach(kind, element, operands, count, out.data());
  for (size_t j = 0; j < out.size(); ++j) {
    ExactSum sum;
    for (const std::vector<T>& row : rows) {
      const double x = row[j];
      sum.Add(kind == ReduceKind::kNorm2 ? x * x : x);
    }
    double expected = sum.Round();
    if (kind == ReduceKind::kNorm2) expected = std::sqrt(expected);
    const auto one = static_cast<T>(expected);
    if (std::isnan(one)) {
      EXPECT_TRUE(std::isnan(out[j]));
    } else {
      EXPECT_EQ(std::memcmp(&out[j], &one, sizeof one), 0)
          << out[j] << " for " << one;
    }
  }
}

TEST(ExactSumTest, RunsOfPointsGiveTheBitsOfEach) {
  const auto [first, last] = SeedRange(2'000);
  for (int64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(static_cast<uint64_t>(seed));
    const ReduceKind kind =
        rng.Below(3) == 0 ? ReduceKind::kNorm2 : ReduceKind::kSum;
    if (rng.Below(2) == 0) {
      CheckRuns<double>(rng, kind, ElementType::kDouble);
    } else {
      CheckRuns<float>(rng, kind, ElementType::kFloat);
    }
  }
}

}  // namespace
}  // namespace dogged::dsl

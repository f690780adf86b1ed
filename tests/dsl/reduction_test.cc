// Aim: reductions give the same bits however the program is run, and the right
// ones; tasks that depend on them do too.
// Method: programs in one tile, in many, point by point, interpreted and
// compiled, against each other and against loops here.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/dsl/compile_tools.h"

namespace dogged::dsl {
namespace {

using testing::HasSubstr;

// A stencil with something to reduce behind it.
std::string Heat(const std::string& behind) {
  return R"(
param N = 41
param T = 12
task start
  creates u(x)(y)(0) as n
  for  x = 0:N-1  y = 0:N-1
  code
    n = (x*7 + y*3) % 11 - 4.3
  end code
end task
boundary u(x)(0)(t)   = 0
boundary u(x)(N-1)(t) = 0
boundary u(0)(y)(t)   = 0 where y > 0 and y < N-1
boundary u(N-1)(y)(t) = 0 where y > 0 and y < N-1
task heat
  creates u(x)(y)(t) as n
  for  x = 1:N-2  y = 1:N-2  t = 1:T
  using
    u(x-1)(y)(t-1) as west
    u(x+1)(y)(t-1) as east
    u(x)(y-1)(t-1) as south
    u(x)(y+1)(t-1) as north
  code
    n = 0.25*(west + east + south + north)
  end code
end task
)" + behind;
}

// In every way there is, in several shapes.
SerialOutcome RunEveryWay(const std::string& text,
                          const std::string& lowering) {
  const KernelCache cache;
  CompileOptions options = Options();
  const SerialOutcome out = MustRun(text, options);
  ExpectOneDigest(text, options, {.widths = {16, 16}, .depth = 4},
                  cache.Source());
  ExpectOneDigest(text, options, {.widths = {9, 41}, .depth = 5}, nullptr);
  options.target = {.agents = 8, .workers = 1};
  EXPECT_EQ(MustDigest(MustCompile(text, options), nullptr),
            out.digest.ToString());
  options.chunk_points = 0;
  const Job job = MustCompile(text, options);
  EXPECT_EQ(MustDigest(job, nullptr), out.digest.ToString());
  EXPECT_THAT(job.lowering, HasSubstr(lowering));
  return out;
}

// No corner is read, so start must not create it: boundaries do.
std::string Inner(std::string text) {
  const std::string all = "for  x = 0:N-1  y = 0:N-1";
  text.replace(text.find(all), all.size(), "for  x = 1:N-2  y = 1:N-2");
  return text;
}

TEST(ReductionTest, EachKindAtEachStep) {
  const SerialOutcome out = RunEveryWay(Inner(Heat(R"(
reduce total(t) = sum(u(x)(y)(t)) for t = 0:T over x = 0:N-1 y = 0:N-1
reduce low(t) = min(u(x)(y)(t)) for t = 2:T:3 over x = 1:N-2 y = 1:N-2
reduce high = max(u(x)(y)(T)) over x = 1:N-2 y = 1:N-2
reduce length(t) = norm2(u(x)(y)(t-1)) for t = 1:T over x = 1:N-2 y = 1:N-2
reduce largest = normmax(u(x)(y)(t)) over x = 1:N-2 y = 1:N-2 t = 0:T
result u(:)(:)(:)
result total
result low(t) for t = 2:T:3
result high
result length
result largest
)")),
                                        "steps deep");
  ASSERT_EQ(out.values.size(), 6u);
  const auto u = out.values[0].span<double>();  // (x)(y)(t)
  const size_t n = 41;
  const size_t steps = 13;
  const auto time_step = [&](size_t t) {
    std::vector<double> values;
    for (size_t i = 0; i < n * n; ++i) values.push_back(u[i * steps + t]);
    return values;
  };
  for (size_t t = 0; t < steps; ++t) {
    long double sum = 0;
    for (const double value : time_step(t)) sum += value;
    EXPECT_NEAR(out.values[1].span<double>()[t], static_cast<double>(sum),
                1e-12);
    if (t + 1 == steps) continue;
    long double squares = 0;
    for (const double value : time_step(t)) squares += value * value;
    EXPECT_NEAR(out.values[4].span<double>()[t],
                std::sqrt(static_cast<double>(squares)), 1e-12);
  }
  const auto last = time_step(steps - 1);
  std::vector<double> inner;
  double largest = 0;
  for (size_t x = 1; x + 1 < n; ++x) {
    for (size_t y = 1; y + 1 < n; ++y) inner.push_back(last[x * n + y]);
  }
  for (const double value : u) largest = std::max(largest, std::fabs(value));
  EXPECT_EQ(out.values[3].span<double>()[0],
            *std::max_element(inner.begin(), inner.end()));
  EXPECT_EQ(out.values[5].span<double>()[0], largest);
}

TEST(ReductionTest, TasksBehindAReduction) {
  const SerialOutcome out = RunEveryWay(Inner(Heat(R"(
reduce total(t) = sum(u(x)(y)(t)) for t = 0:T over x = 0:N-1 y = 0:N-1
task share
  creates s(t) as n
  for t = 1:T
  using  total(t) as now  total(0) as first
  code
    n = now/first
  end code
end task
reduce least = min(s(t)) over t = 1:T
result least
result s
)")),
                                        "steps deep");
  ASSERT_EQ(out.values.size(), 2u);
  const auto shares = out.values[1].span<double>();
  EXPECT_EQ(out.values[0].span<double>()[0],
            *std::min_element(shares.begin(), shares.end()));
}

// A reduction that can't be in tiles runs point by point, and says why.
TEST(ReductionTest, PointByPoint) {
  RunEveryWay(Inner(Heat(R"(
reduce row(x) = sum(u(x)(y)(T)) for x = 0:N-1 over y = 0:N-1
result row
)")),
              "point by point: reduce row(x) has an index of space");
  RunEveryWay(Inner(Heat(R"(
reduce trace = sum(u(x)(x)(T)) over x = 0:N-1
result trace
)")),
              "point by point: reduce trace does not name each index once");
  RunEveryWay(R"(
param N = 40
param T = 6
input u(x)(y)(0) for x = 0:N y = 0:N else x - 3*y + 0.3
reduce s(t) = norm2(u(x)(y)(t)) for t = 0:T-1 over x = 0:N y = 0:N
task scale
  creates u(x)(y)(t) as n
  for  x = 0:N  y = 0:N  t = 1:T
  using  u(x)(y)(t-1) as c  s(t-1) as l
  code
    n = c/l + 0.1
  end code
end task
result u(:)(:)(T)
)",
              "point by point: ");
}

// Parts of a box: points that are left out count nothing, and may not be there.
TEST(ReductionTest, OverPartsOfABox) {
  const SerialOutcome out = RunEveryWay(R"(
param N = 30
param T = 12
array k(x = 0:N)(y = 0:N)(t = 0:T) : int64
array f(x = 0:N)(y = 0:N)(t = 0:T) : float
task start
  creates k(x)(y)(0) as n  f(x)(y)(0) as m
  for x = 0:N  y = 0:N where x != y
  code
    n = 3*x - 5*y - 100
    m = float(x - 2*y - 100)
  end code
end task
task step
  creates k(x)(y)(t) as n  f(x)(y)(t) as m
  for  x = 0:N  y = 0:N  t = 1:T  where x != y
  using
    k(x)(y)(t-1)   as c
    f(x)(y)(t-1)   as d
    f(x-1)(y)(t-1) as w where x > 0 and x != y + 1 else -1
  code
    n = c - 1
    m = d - 0.25*w
  end code
end task
reduce half(t) = sum(f(x)(y)(t)) for t = 2:T:5
  over x = 1:N y = 0:x-1 where (x + y) % 3 == 1
reduce norm(t) = norm2(f(x)(y)(t)) for t = 0:T
  over x = 0:N y = 0:N where x < y and y < 20
reduce large(t) = normmax(f(x)(y)(t)) for t = 0:T
  over x = 0:N y = 0:N where x != y
reduce high = max(f(x)(y)(T)) over x = 0:N y = 0:N where x != y
reduce low = min(f(x)(y)(T)) over x = 0:N y = 0:N where x != y and x + y > 9
reduce top = max(k(x)(y)(T)) over x = 0:N y = 0:N where x != y
reduce all = sum(k(x)(y)(T)) over x = 0:N y = x+1:N
reduce least = min(k(x)(y)(T)) over x = 0:N y = 0:N where x != y
result half
result norm
result large
result high
result low
result top
result all
result least
)",
                                        "steps deep");
  ASSERT_EQ(out.values.size(), 8u);
  EXPECT_GT(out.values[3].span<float>()[0], out.values[4].span<float>()[0]);
  EXPECT_EQ(out.values[5].span<int64_t>()[0], 3 * 30 - 100 - 12);
  int64_t all = 0;
  for (int64_t x = 0; x <= 30; ++x) {
    for (int64_t y = x + 1; y <= 30; ++y) all += 3 * x - 5 * y - 112;
  }
  EXPECT_EQ(out.values[6].span<int64_t>()[0], all);
  EXPECT_EQ(out.values[7].span<int64_t>()[0], -5 * 30 - 112);
}

TEST(ReductionTest, OtherTypesAndNothing) {
  const SerialOutcome out = RunEveryWay(R"(
param N = 70
param T = 3
array k(x = 0:N)(y = 0:0)(t = 0:T) : int64
array f(x = 0:N) : float
input k(x)(0)(0) for x = 0:N else x*x - 60*x
input f(x) for x = 0:N else float(x)/3.0
input g(x) for x = 0:N else x/4.0 - 20
task step
  creates k(x)(y)(t) as n
  for  x = 0:N  y = 0:0  t = 1:T
  using k(x)(y)(t-1) as c
  code
    n = c - 1
  end code
end task
reduce low = min(k(x)(y)(T)) over x = 0:N y = 0:0
reduce all = sum(k(x)(y)(T)) over x = 0:N y = 0:0
reduce thirds = sum(f(x)) over x = 0:N
reduce none = max(f(x)) over x = 0:N where x > N
reduce far = normmax(g(x)) over x = 0:N
result low
result all
result thirds
result none
result far
)",
                                        "");
  ASSERT_EQ(out.values.size(), 5u);
  EXPECT_EQ(out.values[0].span<int64_t>()[0], -903);
  int64_t all = 0;
  float third = 0;
  double thirds = 0;
  for (int64_t x = 0; x <= 70; ++x) {
    all += x * x - 60 * x - 3;
    third = static_cast<float>(x) / 3.0F;
    thirds += third;
  }
  EXPECT_EQ(out.values[1].span<int64_t>()[0], all);
  EXPECT_EQ(out.values[2].span<float>()[0], static_cast<float>(thirds));
  EXPECT_EQ(out.values[3].span<float>()[0],
            -std::numeric_limits<float>::infinity());
  EXPECT_EQ(out.values[4].span<double>()[0], 20) << "of -20";
}

// A single dimension without a point is enough, whichever.
TEST(ReductionTest, OverNothingInOneDimension) {
  const std::string grid = R"(
param M = 0
task start
  creates u(x)(y) as n
  for  x = 0:3  y = 0:3
  code
    n = 1 + x + y
  end code
end task
result u(:)(:)
result s
)";
  for (const char* over : {"x = 1:M y = 0:3", "x = 0:3 y = 1:M",
                           "x = 1:M y = 1:M", "x = 1:M y = x:3"}) {
    const SerialOutcome out = RunEveryWay(
        absl::StrCat(grid, "reduce s = sum(u(x)(y)) over ", over, "\n"), "");
    ASSERT_EQ(out.values.size(), 2u);
    EXPECT_EQ(out.values[1].span<double>()[0], 0) << over;
  }
}

// The types of reductions of reductions don't depend on which line is first.
TEST(ReductionTest, OfReductionsInAnyOrder) {
  const std::string grid = R"(
array u(x = 0:3)(t = 0:2) : int64
task start
  creates u(x)(t) as n
  for  x = 0:3  t = 0:2
  code
    n = x + 10*t
  end code
end task
result b
)";
  const std::string inner =
      "reduce a(t) = sum(u(x)(t)) for t = 0:2 over x = 0:3\n";
  const std::string outer = "reduce b = sum(a(t)) over t = 0:2\n";
  for (const std::string& both : {inner + outer, outer + inner}) {
    const SerialOutcome out = RunEveryWay(grid + both, "");
    ASSERT_EQ(out.values.size(), 1u);
    ASSERT_EQ(out.values[0].type(), ElementType::kInt64) << both;
    EXPECT_EQ(out.values[0].span<int64_t>()[0], 138);
  }
}

}  // namespace
}  // namespace dogged::dsl

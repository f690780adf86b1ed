// Aim: apps/lu/lu.dog factors the matrix that it is given, from a file or
// generated, of any size, and its verdict tells sound factors from spoilt ones.
// Method: text to results in this process, against plain loops; then single
// elements are spoilt.
#include <cmath>
#include <limits>
#include <vector>

#include "apps/lu/verify.h"
#include "apps/reference.h"
#include "gmock/gmock.h"
#include "tests/apps/factor_run.h"

namespace dogged {
namespace {

class LuTest : public testing::Test {
 protected:
  LuTest() {
    EXPECT_TRUE(SetUpBlas().ok());
    AddBlasKernels(registry_);
  }
  absl::StatusOr<FactorRun> Run(int64_t n, int64_t columns,
                                const Value& input) {
    return RunFactor("lu", n, columns, input, registry_);
  }
  static absl::StatusOr<Verdict> Judge(const FactorRun& run) {
    return VerifyLu(
        run.job, run.kernels,
        [&](const Label& label) { return run.Find(label); },
        /*threads=*/2);
  }
  KernelRegistry registry_;
};

TEST_F(LuTest, IsTheTextbooksForAnySize) {
  for (const auto& [n, columns] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 4}, {3, 8}, {8, 8}, {9, 8}, {61, 16}, {100, 128}, {130, 33}}) {
    SCOPED_TRACE(testing::Message() << n << " by " << columns);
    const std::vector<double> a = RandomMatrix(n, 5);
    const absl::StatusOr<FactorRun> run = Run(n, columns, Dense(n, a));
    ASSERT_TRUE(run.ok()) << run.status();
    const apps::LuFactors expected = apps::Lu(n, a);
    const Value f = run->View(0).value();
    ASSERT_EQ(f.shape(), Shape({n, n}));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i; j < n; ++j) {
        const auto at = static_cast<size_t>(i * n + j);
        EXPECT_NEAR(f.span<double>()[at], expected.u[at], 1e-10);
      }
    }
    const Value p = run->View(1).value();
    EXPECT_EQ(std::vector<int64_t>(p.span<int64_t>().begin(),
                                   p.span<int64_t>().end()),
              expected.exchanges);
    const Verdict verdict = Judge(*run).value();
    EXPECT_LT(verdict.residual, 1);
    EXPECT_LT(verdict.solve_error, 1);
  }
}

TEST_F(LuTest, GeneratesOneMatrixUnderAnyTiling) {
  const FactorRun one = Run(70, 70, Value()).value();
  const FactorRun many = Run(70, 16, Value()).value();
  const Value left = one.View(0).value();
  const Value right = many.View(0).value();
  for (int64_t i = 0; i < 70; ++i) {
    for (int64_t j = i; j < 70; ++j) {
      const auto at = static_cast<size_t>(i * 70 + j);
      EXPECT_NEAR(left.span<double>()[at], right.span<double>()[at], 1e-11);
    }
  }
  EXPECT_LT(Judge(many)->residual, 1);
}

// Where squares of elements are beyond all numbers.
TEST_F(LuTest, IsJudgedAlikeAtAnyScale) {
  const std::vector<double> a = RandomMatrix(50, 5);
  const Verdict expected = Judge(Run(50, 16, Dense(50, a)).value()).value();
  for (const int exponent : {-900, -700, 700, 1020}) {
    std::vector<double> scaled = a;
    for (double& x : scaled) x = std::ldexp(x, exponent);
    const FactorRun run = Run(50, 16, Dense(50, scaled)).value();
    const Verdict verdict = Judge(run).value();
    EXPECT_DOUBLE_EQ(verdict.residual, expected.residual);
    EXPECT_DOUBLE_EQ(verdict.solve_error, expected.solve_error);
  }
}

TEST_F(LuTest, RejectsOneWrongElementAnywhere) {
  const FactorRun sound = Run(50, 16, Value()).value();
  ASSERT_TRUE(IsLu(sound.job.program));
  for (const auto& [column, at] : std::vector<std::pair<int64_t, size_t>>{
           {0, 0}, {0, 49 * 16}, {1, 3}, {1, 30 * 16 + 2}, {3, 49 * 2 + 1}}) {
    SCOPED_TRACE(testing::Message() << "F(0)(" << column << ") " << at);
    FactorRun run = Run(50, 16, Value()).value();
    run.Spoil("F", {0, column}).mutable_span<double>()[at] += 1e-6;
    EXPECT_GT(Judge(run)->residual, 100);
  }
  FactorRun swapped = Run(50, 16, Value()).value();
  int64_t& row = swapped.Spoil("P", {1}).mutable_span<int64_t>()[4];
  row = row == 40 ? 41 : 40;
  EXPECT_GT(Judge(swapped)->residual, 1e6);
  row = 19;  // above its own
  EXPECT_FALSE(Judge(swapped).ok());
  FactorRun spoilt = Run(50, 16, Value()).value();
  spoilt.Spoil("F", {0, 2}).mutable_span<double>()[5] =
      std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Judge(spoilt)->residual));
}

TEST_F(LuTest, NamesTileAndPivotOfASingularMatrix) {
  for (const double bad : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<double> a = RandomMatrix(24, 6);
    for (size_t i = 0; i < 24; ++i) a[i * 24 + 13] = bad;
    const absl::Status status = Run(24, 8, Dense(24, a)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(
        std::string(status.message()),
        testing::HasSubstr("panel(1): pivot 5 of the tile (column 13)"));
  }
}

}  // namespace
}  // namespace dogged

// Aim: apps/qr/qr.dog factors the matrix that it is given, from a file or
// generated, of any size, and its verdict tells sound factors from spoilt ones.
// Method: text to results in this process, against plain loops; then single
// elements are spoilt, and reflectors made that are not orthogonal.
#include <cmath>
#include <limits>
#include <vector>

#include "apps/qr/verify.h"
#include "apps/reference.h"
#include "gmock/gmock.h"
#include "tests/apps/factor_run.h"

namespace dogged {
namespace {

class QrTest : public testing::Test {
 protected:
  QrTest() {
    EXPECT_TRUE(SetUpBlas().ok());
    AddBlasKernels(registry_);
  }
  absl::StatusOr<FactorRun> Run(int64_t n, int64_t columns,
                                const Value& input) {
    return RunFactor("qr", n, columns, input, registry_);
  }
  static absl::StatusOr<Verdict> Judge(const FactorRun& run, int threads = 2) {
    return VerifyQr(
        run.job, run.kernels,
        [&](const Label& label) { return run.Find(label); }, threads);
  }
  KernelRegistry registry_;
};

TEST_F(QrTest, IsTheTextbooksForAnySize) {
  for (const auto& [n, columns] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 4}, {3, 8}, {8, 8}, {9, 8}, {61, 16}, {100, 128}, {130, 33}}) {
    SCOPED_TRACE(testing::Message() << n << " by " << columns);
    const std::vector<double> a = RandomMatrix(n, 5);
    const absl::StatusOr<FactorRun> run = Run(n, columns, Dense(n, a));
    ASSERT_TRUE(run.ok()) << run.status();
    const std::vector<double> expected = apps::Qr(n, a);
    const Value v = run->View(0).value();
    ASSERT_EQ(v.shape(), Shape({n, n}));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i; j < n; ++j) {
        const auto at = static_cast<size_t>(i * n + j);
        EXPECT_NEAR(v.span<double>()[at], expected[at], 1e-11);
      }
    }
    const Verdict verdict = Judge(*run).value();
    EXPECT_LT(verdict.residual, 1);
    EXPECT_LT(verdict.solve_error, 1);
  }
}

TEST_F(QrTest, IsJudgedAlikeByAnyNumberOfThreads) {
  const FactorRun run = Run(61, 8, Dense(61, RandomMatrix(61, 5))).value();
  const Verdict expected = Judge(run, 1).value();
  for (const int threads : {2, 3, 100}) {
    const Verdict verdict = Judge(run, threads).value();
    EXPECT_EQ(verdict.residual, expected.residual) << threads;
    EXPECT_EQ(verdict.solve_error, expected.solve_error) << threads;
  }
}

// Where squares of elements are beyond all numbers. Reflectors of such columns
// are made by other steps, so they are as sound, and not the same.
TEST_F(QrTest, IsJudgedAtAnyScale) {
  const std::vector<double> a = RandomMatrix(50, 5);
  for (const int exponent : {-900, -700, 700, 1020}) {
    std::vector<double> scaled = a;
    for (double& x : scaled) x = std::ldexp(x, exponent);
    const FactorRun run = Run(50, 16, Dense(50, scaled)).value();
    const Verdict verdict = Judge(run).value();
    EXPECT_GT(verdict.residual, 0);
    EXPECT_LT(verdict.residual, 1);
    EXPECT_LT(verdict.solve_error, 1);
  }
}

TEST_F(QrTest, RejectsOneWrongElementAnywhere) {
  ASSERT_TRUE(IsQr(Run(50, 16, Value())->job.program));
  for (const auto& [column, at] : std::vector<std::pair<int64_t, size_t>>{
           {0, 0}, {0, 49 * 16}, {1, 3}, {1, 30 * 16 + 2}, {3, 49 * 2}}) {
    SCOPED_TRACE(testing::Message() << "V(0)(" << column << ") " << at);
    FactorRun run = Run(50, 16, Value()).value();
    run.Spoil("V", {0, column}).mutable_span<double>()[at] += 1e-6;
    EXPECT_GT(Judge(run)->residual, 100);
  }
  // Q R is A for any Q = A inverse(R), also for one that is not orthogonal.
  FactorRun run = Run(50, 16, Value()).value();
  run.Spoil("T", {1}).mutable_span<double>()[16 + 4] += 1e-6;
  EXPECT_GT(Judge(run)->residual, 100);
  run.Spoil("V", {0, 2}).mutable_span<double>()[5] =
      std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Judge(run)->residual));
}

TEST_F(QrTest, NamesTileAndColumnThatAreNotFinite) {
  std::vector<double> a = RandomMatrix(24, 6);
  a[20 * 24 + 13] = std::numeric_limits<double>::quiet_NaN();
  const absl::Status status = Run(24, 8, Dense(24, a)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("panel(1): column 5 of the tile (column 13 "));
}

TEST_F(QrTest, FactorsASingularMatrix) {
  std::vector<double> a = RandomMatrix(30, 6);
  for (size_t i = 0; i < 30; ++i) a[i * 30 + 13] = 0;
  const FactorRun run = Run(30, 8, Dense(30, a)).value();
  EXPECT_LT(Judge(run)->residual, 1);
}

}  // namespace
}  // namespace dogged

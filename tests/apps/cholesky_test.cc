// Aim: apps/cholesky/cholesky.dog factors the matrix that it is given, from a
// file or generated, of any size, and its residual says so.
// Method: text to results in this process, against plain loops.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "apps/cholesky/verify.h"
#include "apps/reference.h"
#include "apps/tiles/blas_kernels.h"
#include "dsl/compile.h"
#include "dsl/isl/analysis_isl.h"
#include "dsl/kernels/load_kernels.h"
#include "dsl/results.h"
#include "gmock/gmock.h"
#include "runtime/base/random.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

struct Outcome {
  std::vector<double> l;  // n x n
  Verdict verdict;
};

absl::StatusOr<Outcome> Factor(int64_t n, int64_t tile_rows,
                               const Value& input) {
  EXPECT_TRUE(SetUpBlas().ok());
  std::ifstream file(DOGGED_APPS_DIR "/cholesky/cholesky.dog");
  std::stringstream text;
  text << file.rdbuf();
  KernelRegistry registry;
  AddBlasKernels(registry);
  dsl::CompileOptions options;
  options.file = "cholesky.dog";
  options.analyze = dsl::AnalyzeWithIsl;
  options.parameters = {{"N", std::to_string(n)},
                        {"NB", std::to_string(tile_rows)}};
  if (!input.IsNone()) options.inputs.emplace("A", input);
  dsl::Diagnostics diagnostics("", "");
  DOGGED_ASSIGN_OR_RETURN(
      const Job job, dsl::Compile(text.str(), options, registry, diagnostics));
  DOGGED_ASSIGN_OR_RETURN(const KernelTable kernels,
                          dsl::LoadKernels(job, registry, nullptr));
  std::map<Label, Value> results;
  const Relations relations(job.program);
  DOGGED_RETURN_IF_ERROR(
      dsl::RunSerially(relations, kernels,
                       [&](const Label& label, const Value& value) {
                         results[label] = value;
                         return absl::OkStatus();
                       })
          .status());
  const auto lookup = [&](const Label& label) -> absl::StatusOr<Value> {
    return results.at(label);
  };
  Outcome out;
  DOGGED_ASSIGN_OR_RETURN(out.verdict,
                          VerifyCholesky(job, kernels, lookup, /*threads=*/2));
  DOGGED_ASSIGN_OR_RETURN(
      const Value dense,
      dsl::AssembleView(job.program, job.program.views[0], lookup));
  out.l.assign(dense.span<double>().begin(), dense.span<double>().end());
  return out;
}

Value Dense(int64_t n, const std::vector<double>& elements) {
  Value out = Value::Allocate(ElementType::kDouble, {n, n});
  std::memcpy(out.mutable_data(), elements.data(),
              static_cast<size_t>(out.bytes()));
  out.Seal();
  return out;
}

// Positive definite by its diagonal; elements above that are not to be read.
std::vector<double> RandomMatrix(int64_t n, uint64_t seed) {
  Rng rng(seed);
  std::vector<double> a;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const double x = static_cast<double>(rng.Below(2001) - 1000) / 1000;
      a.push_back(i == j ? static_cast<double>(n) + x : x);
    }
  }
  return a;
}

void ExpectNear(const std::vector<double>& actual,
                const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  double worst = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    worst = std::max(worst, std::abs(actual[i] - expected[i]));
  }
  EXPECT_LT(worst, 1e-11);
}

TEST(Cholesky, FactorsAMatrixFromAFile) {
  for (const auto& [n, tile_rows] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 4}, {8, 4}, {61, 16}, {100, 128}}) {
    SCOPED_TRACE(testing::Message() << n << " by " << tile_rows);
    const std::vector<double> a = RandomMatrix(n, 7);
    const absl::StatusOr<Outcome> out = Factor(n, tile_rows, Dense(n, a));
    ASSERT_TRUE(out.ok()) << out.status();
    ExpectNear(out->l, apps::Cholesky(n, a));
    EXPECT_LT(out->verdict.residual, 1);
    EXPECT_LT(out->verdict.solve_error, 1);
  }
}

// Where squares of elements are beyond all numbers.
TEST(Cholesky, IsJudgedAlikeAtAnyScale) {
  const std::vector<double> a = RandomMatrix(50, 7);
  const Verdict expected = Factor(50, 16, Dense(50, a))->verdict;
  for (const int exponent : {-700, 700}) {
    std::vector<double> scaled = a;
    for (double& x : scaled) x = std::ldexp(x, exponent);
    const absl::StatusOr<Outcome> out = Factor(50, 16, Dense(50, scaled));
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_DOUBLE_EQ(out->verdict.residual, expected.residual);
    EXPECT_DOUBLE_EQ(out->verdict.solve_error, expected.solve_error);
  }
}

TEST(Cholesky, FactorsTheGeneratedMatrixAlikeInAnyTiling) {
  const absl::StatusOr<Outcome> one = Factor(50, 64, Value());
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_LT(one->verdict.residual, 1);
  const absl::StatusOr<Outcome> many = Factor(50, 8, Value());
  ASSERT_TRUE(many.ok()) << many.status();
  EXPECT_LT(many->verdict.residual, 1);
  ExpectNear(many->l, one->l);
}

TEST(Cholesky, NamesTileAndPivotOfAnIndefiniteFile) {
  std::vector<double> a = RandomMatrix(12, 7);
  a[6 * 12 + 6] = -1;
  const absl::StatusOr<Outcome> out = Factor(12, 4, Dense(12, a));
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(out.status().message()),
              testing::HasSubstr("factor(1): pivot 2 "));
}

}  // namespace
}  // namespace dogged

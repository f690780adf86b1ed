// Aim: a result of which some indices tell others takes the place of the
// others, in every way to run it, and the values are those of its labels.
// Method: views of compiled programs, digests in points and in tiles, and
// values against those of the same labels in an array of the program's own.
#include "dsl/nest/lower_nest.h"
#include "tests/dsl/compile_tools.h"

namespace dogged::dsl {
namespace {

constexpr absl::string_view kEliminate = R"(
param N = 9
boundary a(i)(j)(0) = sin(i + 3.0*j) + (i == j ? 2*N : 0)
task step
  creates a(i)(j)(k+1) as n
  for k = 0:N-2  i = k+1:N-1  j = k+1:N-1
  using
    a(i)(j)(k) as x
    a(i)(k)(k) as l
    a(k)(j)(k) as u
    a(k)(k)(k) as p
  code
    n = x - l*u/p
  end code
end task
)";
// As a user would write it without told indices.
constexpr absl::string_view kOwnArray = R"(
task finish
  creates f(i)(j) as n
  for i = 0:N-1  j = i:N-1
  using a(i)(j)(i) as x
  code
    n = x
  end code
end task
result f(i)(j) for i = 0:N-1  j = i:N-1
)";

const ResultView& OnlyView(const Job& job) {
  EXPECT_EQ(job.program.views.size(), 1u);
  return job.program.views.front();
}

Job JobOf(absl::string_view result, CompileOptions options = Options()) {
  return MustCompile(absl::StrCat(kEliminate, result), options);
}

TEST(ToldIndicesTest, ARowWhenItIsFinishedIsOneOfAMatrix) {
  constexpr absl::string_view kRows =
      "result a(i)(j)(i) for i = 0:N-1  j = i:N-1\n";
  const Job points = JobOf(kRows);
  EXPECT_EQ(OnlyView(points).array, "a");
  EXPECT_EQ(OnlyView(points).upper, (std::vector<int64_t>{8, 8}));
  CompileOptions nest = Options();
  nest.lower_nest = LowerNestWithIsl;
  nest.prefers_nest = true;
  const Job tiles = JobOf(kRows, nest);
  EXPECT_THAT(tiles.lowering, testing::HasSubstr("loop nest"));
  EXPECT_EQ(OnlyView(tiles).array, "a");
  EXPECT_EQ(OnlyView(tiles).upper, (std::vector<int64_t>{8, 8}));
  const std::string expected = MustDigest(JobOf(kOwnArray), nullptr);
  EXPECT_EQ(MustDigest(points, nullptr), expected);
  EXPECT_EQ(MustDigest(tiles, nullptr), expected);
}

TEST(ToldIndicesTest, NumbersAndSumsAreTold) {
  const Job diagonal = JobOf("result a(i)(i)(i) for i = 0:N-1\n");
  EXPECT_EQ(OnlyView(diagonal).upper, (std::vector<int64_t>{8}));
  const Job beside = JobOf("result a(N-1)(j+1)(j) for j = 0:N-2\n");
  EXPECT_EQ(OnlyView(beside).lower, (std::vector<int64_t>{8, 1}));
  EXPECT_EQ(OnlyView(beside).upper, (std::vector<int64_t>{8, 8}));
}

TEST(ToldIndicesTest, OtherResultsKeepAllIndices) {
  EXPECT_EQ(OnlyView(JobOf("result a(i)(j)(1) for i = 1:N-1  j = 1:N-1\n"))
                .upper.size(),
            3u);
  const Job both = JobOf(
      "result a(i)(i)(i) for i = 0:N-1\n"
      "result a(:)(:)(0)\n");
  for (const ResultView& view : both.program.views) {
    EXPECT_EQ(view.upper.size(), 3u);
  }
  // A graph shows the user's labels.
  CompileOptions graph = Options();
  graph.static_labels = true;
  EXPECT_EQ(
      OnlyView(JobOf("result a(i)(i)(i) for i = 0:N-1\n", graph)).upper.size(),
      3u);
}

}  // namespace
}  // namespace dogged::dsl

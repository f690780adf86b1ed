// Aim: programs in tiles of their loop nests have the bits of their points,
// whatever the sizes of program and tiles.
// Method: programs of all kinds of nests with random sizes and tiles from a
// seed, compiled and walked, and on simulated agents under faults; the points,
// interpreted, are the oracle.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "dsl/ir/nest_body.h"
#include "dsl/nest/lower_nest.h"
#include "dsl/point_warning.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "runtime/graph/keys/affinity.h"
#include "tests/dsl/compile_tools.h"
#include "tests/dsl/nest/nest_tools.h"
#include "tests/dsl/repeat_tools.h"

namespace dogged::dsl {
namespace {

using testing::StartsWith;

std::string ReadFileText(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::filesystem::path> NestPrograms() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(
           absl::StrCat(DOGGED_PROGRAMS_DIR, "/nests"))) {
    if (entry.path().extension() == ".dog") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Random values of the parameters that `text` declares.
std::vector<std::pair<std::string, std::string>> RandomParameters(
    const std::string& text, Rng& rng) {
  std::vector<std::pair<std::string, std::string>> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    std::string name;
    words >> first >> name;
    if (first != "param") continue;
    out.emplace_back(name, absl::StrCat(2 + rng.Below(26)));
  }
  return out;
}

TEST(NestTest, HasTheBitsOfThePoints) {
  const KernelCache cache;
  for (const auto& path : NestPrograms()) {
    SCOPED_TRACE(path.filename().string());
    const std::string text = ReadFileText(path);
    CompileOptions options = NestOptions();
    ExpectBitsOfPoints(text, options, cache.Source());
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      Rng rng(seed);
      options.parameters = RandomParameters(text, rng);
      options.nest_widths.clear();
      for (int64_t k = rng.Below(3); k >= 0; --k) {
        options.nest_widths.push_back(1 + rng.Below(12));
      }
      std::string said = absl::StrCat("seed ", seed);
      for (const auto& [name, value] : options.parameters) {
        absl::StrAppend(&said, " ", name, "=", value);
      }
      SCOPED_TRACE(said);
      ExpectBitsOfPoints(text, options,
                         seed == 1 ? cache.Source() : CompileSource());
      if (HasFailure()) return;
    }
  }
}

// A tile of agents has a home, copies and a digest: there are fewer, and those
// of one plane, which go side by side, lie with several agents.
TEST(NestTest, TilesOfAgentsAreLargeAndSpread) {
  const std::string text =
      ReadFileText(absl::StrCat(DOGGED_PROGRAMS_DIR, "/nests/floyd.dog"));
  CompileOptions options = NestOptions();
  options.parameters = {{"N", "400"}};
  options.target = {.agents = 1, .workers = 2};
  const int64_t alone = MustCompile(text, options).program.TaskCount();
  options.target = {.agents = 2, .workers = 1};
  const Program program = MustCompile(text, options).program;
  EXPECT_LE(2 * program.TaskCount(), alone);
  EXPECT_LT(program.TaskCount(), 3 * 400) << "two tiles for each plane";
  for (const TaskClass& c : program.classes) {
    if (c.domain.size() != 3) continue;
    std::set<uint64_t> keys;
    for (const IndexVector& tile : {IndexVector{7, 0, 0}, {7, 1, 0}}) {
      ASSERT_TRUE(c.domain.Contains(tile)) << c.name;
      const Create& create = c.creates[0];
      keys.insert(
          AffinityKey(program.arrays[create.array], Apply(create.map, tile)));
    }
    EXPECT_EQ(keys.size(), 2) << c.name;
    // These are all of the plane.
    EXPECT_FALSE(c.domain.Contains({7, 2, 0})) << c.name;
    EXPECT_FALSE(c.domain.Contains({7, 0, 1})) << c.name;
  }
}

// Elements of files are read where tiles need them, at their edges, too, and in
// steps.
TEST(NestTest, ReadsFiles) {
  constexpr char kProduct[] = R"(
param N = 9
param M = 7
param K = 5
input A(i)(k) for i = 0:N-1 k = 0:K-1
input B(k)(j) for k = 0:2*K:2 j = 1:M
boundary C(i)(j)(0) = 0
task update
  creates C(i)(j)(k+1) as n
  for i = 0:N-1 j = 1:M k = 0:K-1
  using C(i)(j)(k) as c A(i)(k) as a B(2*k)(j) as b
  code
    n = c + a*b
  end code
end task
result C(:)(:)(K)
)";
  const auto file = [](const Shape& shape, Rng& rng) {
    Value out = Value::Allocate(ElementType::kDouble, shape);
    for (double& x : out.mutable_span<double>()) x = rng.Unit() - 0.5;
    out.Seal();
    return out;
  };
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const int64_t n = 1 + rng.Below(20);
    const int64_t m = 1 + rng.Below(20);
    const int64_t k = 1 + rng.Below(20);
    CompileOptions options = NestOptions();
    options.parameters = {
        {"N", absl::StrCat(n)}, {"M", absl::StrCat(m)}, {"K", absl::StrCat(k)}};
    options.nest_widths = {1 + rng.Below(9), 1 + rng.Below(9)};
    options.inputs["A"] = file({n, k}, rng);
    options.inputs["B"] = file({k + 1, m}, rng);
    ExpectBitsOfPoints(kProduct, options, nullptr);
    if (HasFailure()) return;
  }
}

// Hyperplanes as steep as an index is short make all distances short: of six
// steps a step they make tiles of few points.
TEST(NestTest, ShortIndicesAreNoDistances) {
  const std::string text =
      ReadFileText(absl::StrCat(DOGGED_PROGRAMS_DIR, "/nests/red_black.dog"));
  CompileOptions options = NestOptions();
  for (const int steps : {4, 5, 10, 15}) {
    options.parameters = {{"N", "64"}, {"T", absl::StrCat(steps)}};
    const Job job = MustCompile(text, options);
    EXPECT_THAT(job.lowering, StartsWith(kLoopNest));
    EXPECT_LE(job.program.TaskCount(), 100 + 3 * steps) << job.lowering;
  }
}

// Linear programs of isl's scheduler have numbers in them that grow with those
// of the program: with these, one of the programs takes a minute.
TEST(NestTest, TilesAreFoundInBoundedTimeWhateverTheSizes) {
  for (const auto& path : NestPrograms()) {
    SCOPED_TRACE(path.filename().string());
    const std::string text = ReadFileText(path);
    CompileOptions options = NestOptions();
    Rng rng(1);
    for (auto& [name, value] : RandomParameters(text, rng)) {
      options.parameters.emplace_back(name, absl::StrCat(value, "00"));
    }
    EXPECT_THAT(MustCompile(text, options).lowering, StartsWith(kLoopNest));
  }
}

// Numbers in the linear programs of this program's schedule get longer step by
// step: without a bound on steps it takes a minute.
TEST(NestTest, TilesAreFoundInBoundedStepsWhateverTheSkews) {
  const std::string text = R"(
param N = 3
param T = 5
boundary a(i)(j)(0) = 0.1*i + j
boundary b(i)(j)(0) = 0.2*i - j
boundary c(i)(j)(0) = 0.3*i + j
task one
  creates a(i)(j)(t) as n
  for i = 0:N  j = 0:N  t = 1:T
  using
    c(2*i-2*j+2*t)(2*j-1)(t-2) as r
      where t >= 2 and 2*i - 2*j + 2*t >= 0 and 2*i - 2*j + 2*t <= N and
        2*j >= 1 and 2*j <= N + 1 else 0.5
    b(i+2*j-1)(1-2*t)(t-1) as s
      where i + 2*j >= 1 and i + 2*j <= N + 1 and 1 - 2*t >= 0 else 0.25
  code
    n = 0.5*r - 0.25*s
  end code
end task
task two
  creates b(i)(j)(t) as n
  for i = 0:N  j = 0:N  t = 1:T
  using
    c(2*i+j+1)(1-j)(t-1) as r where 2*i + j + 1 <= N and j <= 1 else 0.5
    a(2-2*t)(i+j-1)(t) as s
      where t <= 1 and i + j >= 1 and i + j <= N + 1 else 0.25
    a(2*i-2*j+t)(j+1)(t) as q
      where 2*i - 2*j + t >= 0 and 2*i - 2*j + t <= N and j + 1 <= N else 0.75
  code
    n = 0.5*r - 0.25*s + 0.125*q
  end code
end task
task three
  creates c(i)(j)(t) as n
  for i = 0:N  j = 0:N  t = 1:T
  using
    b(2-j)(2*j-i+t+2)(t-2) as r
      where t >= 2 and j <= 2 and 2*j - i + t + 2 >= 0 and
        2*j - i + t + 2 <= N else 0.5
    a(i+j+2)(i+j+t+1)(t-2) as s
      where t >= 2 and i + j + t + 1 <= N and i + j + 2 <= N else 0.25
  code
    n = 0.5*r - 0.25*s
  end code
end task
result a(:)(:)(:)
result b(:)(:)(:)
result c(:)(:)(:)
)";
  ExpectBitsOfPoints(text, NestOptions(), nullptr);
}

// A band of several hyperplanes is a matter of speed: with none of the steps
// that it may take to find one, tiles of a single hyperplane have the same
// bits.
TEST(NestTest, ASingleHyperplaneServesWhereNoBandIsFound) {
  CompileOptions options = NestOptions();
  options.lower_nest = [](const PointProgram& points, const NestTarget& target,
                          std::string& how) {
    NestTarget hurried = target;
    hurried.vain_steps_max = 0;
    return LowerNestWithIsl(points, hurried, how);
  };
  for (const auto& path : NestPrograms()) {
    SCOPED_TRACE(path.filename().string());
    ExpectBitsOfPoints(ReadFileText(path), options, nullptr);
  }
}

// A row that is read as step i left it is one for each i, and not a row for
// each step: the blocks of tiles are squares, not cubes.
TEST(NestTest, IndicesThatOthersTellTakeNoPlace) {
  CompileOptions options = NestOptions();
  options.parameters = {{"N", "256"}};
  options.nest_widths = {32};
  const Job job = MustCompile(
      ReadFileText(absl::StrCat(DOGGED_PROGRAMS_DIR, "/nests/lu.dog")),
      options);
  for (const KernelSpec& spec : job.program.kernels) {
    if (spec.kind != "nest") continue;
    const auto body = NestBody::Decode(spec.body);
    ASSERT_TRUE(body.ok()) << body.status();
    for (const NestBlock& block : body->blocks) {
      int64_t count = 1;
      for (const int64_t extent : block.extents) count *= extent;
      EXPECT_LE(count, 33 * 33) << spec.name;
    }
  }
}

// Whatever the order of an array's indices, rows and columns of a plane go to
// other tiles by themselves.
TEST(NestTest, OtherTilesGetRowsAndNotTiles) {
  const std::string steps_first =
      ReadFileText(absl::StrCat(DOGGED_PROGRAMS_DIR, "/nests/floyd.dog"));
  const std::string steps_last =
      absl::StrReplaceAll(steps_first, {{"p(k+1)(i)(j)", "p(i)(j)(k+1)"},
                                        {"p(k)(i)(j)", "p(i)(j)(k)"},
                                        {"p(k)(i)(k)", "p(i)(k)(k)"},
                                        {"p(k)(k)(j)", "p(k)(j)(k)"},
                                        {"p(0)(i)(j)", "p(i)(j)(0)"},
                                        {"p(N)(:)(:)", "p(:)(:)(N)"}});
  CompileOptions options = NestOptions();
  options.parameters = {{"N", "400"}};
  for (const std::string& text : {steps_first, steps_last}) {
    const Job job = MustCompile(text, options);
    for (const KernelSpec& spec : job.program.kernels) {
      if (!absl::StartsWith(spec.name, "step")) continue;
      const auto body = NestBody::Decode(spec.body);
      ASSERT_TRUE(body.ok()) << body.status();
      std::multiset<int64_t> made;
      for (const NestBlock& block : body->blocks) {
        if (block.kind == NestBlock::Kind::kCreate) made.insert(block.Count());
      }
      ASSERT_EQ(made.size(), 3u) << text;
      const int64_t least = *made.begin();
      const int64_t middle = *std::next(made.begin());
      EXPECT_GT(least, 1) << text;
      EXPECT_EQ(*made.rbegin(), least * middle) << text;
    }
  }
}

// Gram and Schmidt, with an element of the last column in each norm, so that
// all of a step waits for all of the last one: sums and what they are for go by
// columns, one after another along each. Tiles along a column would follow one
// another, so there is one; and an agent's columns are the same in each
// statement.
TEST(NestTest, TilesOfAPlaneLieAlongWhatGivesWork) {
  CompileOptions options = NestOptions();
  options.parameters = {{"M", "800"}, {"N", "700"}};
  options.target = {.agents = 2, .workers = 1};
  const std::string text = absl::StrReplaceAll(
      ReadFileText(absl::StrCat(DOGGED_PROGRAMS_DIR, "/nests/orthogonal.dog")),
      {{"a(i)(k)(k) as y\n", "a(i)(k)(k) as y\n    a(0)(N-1)(k) as z\n"},
       {"n = x + y*y", "n = x + y*y + 0.001*z*z"}});
  const Job job = MustCompile(text, options);
  EXPECT_THAT(job.lowering, testing::HasSubstr("dot in 699 x 4 x 1 tiles"));
  EXPECT_THAT(job.lowering, testing::HasSubstr("less in 699 x 4 x 1 tiles"));
  EXPECT_THAT(job.lowering, testing::HasSubstr("norm in 700 x 1 tiles"));
  const auto key_of = [&](absl::string_view name, int64_t column) {
    for (const TaskClass& c : job.program.classes) {
      if (!absl::StartsWith(c.name, name)) continue;
      const Create& create = c.creates[0];
      return AffinityKey(job.program.arrays[create.array],
                         Apply(create.map, {3, column, 0}));
    }
    ADD_FAILURE() << name;
    return uint64_t{0};
  };
  for (int64_t column = 0; column < 4; ++column) {
    EXPECT_EQ(key_of("dot", column), key_of("less", column)) << column;
    EXPECT_NE(key_of("dot", column), key_of("dot", (column + 1) % 4));
  }
}

// Steps that follow one another are planes; where a plane has work for several
// workers it is in tiles, else a tile has planes.
TEST(NestTest, LargePlanesAreInTiles) {
  CompileOptions options = NestOptions();
  const std::string text =
      ReadFileText(absl::StrCat(DOGGED_PROGRAMS_DIR, "/nests/floyd.dog"));
  options.parameters = {{"N", "400"}};
  EXPECT_THAT(MustCompile(text, options).lowering,
              testing::HasSubstr(" tiles of 1 x "));
  options.parameters = {{"N", "100"}};
  EXPECT_THAT(MustCompile(text, options).lowering,
              testing::Not(testing::HasSubstr(" tiles of 1 x ")));
}

// A formula on the edges of a box has no tiles of what is between them.
TEST(NestTest, EdgesTakeNoMorePlaceThanTheyAre) {
  CompileOptions options = NestOptions();
  options.parameters = {{"N", "64"}, {"T", "16"}};
  options.nest_widths = {8};
  const Job job = MustCompile(
      ReadFileText(absl::StrCat(DOGGED_PROGRAMS_DIR, "/nests/sweeps.dog")),
      options);
  int edges = 0;
  for (const KernelSpec& spec : job.program.kernels) {
    if (!absl::StartsWith(spec.name, "boundary u(i)(j)(t)")) continue;
    ++edges;
    const auto body = NestBody::Decode(spec.body);
    ASSERT_TRUE(body.ok()) << body.status();
    for (const NestBlock& block : body->blocks) {
      EXPECT_LE(block.Count(), 8 * 8) << spec.name;
    }
  }
  EXPECT_EQ(edges, 4);
}

// Values of A are read by a task each, those of B by all tasks of a column.
TEST(NestTest, AFormulaThatIsReadSeldomIsComputedWhereItIsRead) {
  const std::string text = R"(
param N = 9
input A(i)(k) for i = 0:N-1  k = 0:N-1 else sin(1.0*i*k)
input B(k) for k = 0:N-1 else exp(0.1*k)
boundary c(i)(0) = 0.1*i
task update
  creates c(i)(k+1) as n
  for i = 0:N-1  k = 0:N-1
  using
    c(i)(k) as c
    A(i)(k) as a
    B(k) as b
  code
    n = c + 1.5*a*b
  end code
end task
result c(:)(N)
)";
  CompileOptions options = NestOptions();
  options.nest_widths = {4};
  const std::string lowering = MustCompile(text, options).lowering;
  EXPECT_THAT(lowering, testing::HasSubstr("input B"));
  EXPECT_THAT(lowering, testing::Not(testing::HasSubstr("input A")));
  ExpectBitsOfPoints(text, options, nullptr);
}

// No result needs the sums of any other column than N, so their terms are not
// there.
TEST(NestTest, SumsThatNothingNeedsAreLeftOut) {
  const std::string text = R"(
param N = 6
task line
  creates a(i)(j) as n
  for i = 0:N  j = 0:N
  code
    n = 2*i + j
  end code
end task
reduce s(j) = sum(a(i)(j)) for j = 0:N over i = 0:N
task last
  creates z(k) as n
  for k = 0:N
  using s(N) as x
  code
    n = x + k
  end code
end task
result z
)";
  CompileOptions options = NestOptions();
  for (const int64_t width : {2, 8}) {
    options.nest_widths = {width};
    ExpectBitsOfPoints(text, options, nullptr);
  }
}

// Labels are announced to their readers, where agents would search otherwise.
TEST(NestTest, WithoutWhatNothingNeedsItRunsForward) {
  const std::string text = R"(
param N = 20
input A(i)(k) for i = 0:N-1  k = 0:N-1 else 0.5*i + k
task start
  creates c(i)(j)(0) as n
  for i = 0:N-1  j = 0:i
  using A(i)(j) as s
  code
    n = s
  end code
end task
task update
  creates c(i)(j)(k+1) as n
  for i = 0:N-1  j = 0:i  k = 0:j
  using c(i)(j)(k) as s  A(j)(k) as p
  code
    n = s + p
  end code
end task
task finish
  creates C(i)(j) as n
  for i = 0:N-1  j = 0:i
  using c(i)(j)(j+1) as s
  code
    n = s
  end code
end task
result C(i)(j) for i = 0:N-1  j = 0:i
)";
  CompileOptions options = NestOptions();
  options.nest_widths = {8};
  const Job job = MustCompile(text, options);
  EXPECT_THAT(job.lowering, testing::HasSubstr("tiles")) << job.lowering;
  EXPECT_TRUE(job.program.every_task_needed);
  ExpectBitsOfPoints(text, options, nullptr);
}

// Versions of an element overwrite each other, the first too, which another
// task makes: tiles hold the matrix, not its steps, and so can be large. Chosen
// ones are small: each point has steps enough for a task of its own.
TEST(NestTest, TilesHoldNoVersionsOfWhatIsUpdated) {
  CompileOptions options = NestOptions();
  options.parameters = {{"N", "1500"}};
  const std::string text = R"(
param N = 9
boundary T(i)(i) = 0.5*i where i < N
boundary T(i)(i-1) = 0
task begin
  creates t(i)(j)(i) as n
  for i = 0:N-2  j = i+1:N-1
  using T(i+1)(j-1) as a
  code
    n = a + 1
  end code
end task
task split
  creates t(i)(j)(k) as n
  for i = 0:N-3  j = i+2:N-1  k = i+1:j-1
  using
    t(i)(j)(k-1) as a
    T(i)(k) as b
    T(k+1)(j) as c
  code
    n = max(a, b + c)
  end code
end task
task give
  creates T(i)(j) as n
  for i = 0:N-2  j = i+1:N-1
  using t(i)(j)(j-1) as a
  code
    n = a
  end code
end task
result T(i)(j) for i = 0:N-1  j = i:N-1
)";
  EXPECT_THAT(MustCompile(text, options).lowering,
              testing::HasSubstr("47 tiles of 32 x 32"));
  options.nest_widths = {192};
  EXPECT_THAT(MustCompile(text, options).lowering,
              testing::HasSubstr("8 tiles of 192 x 192"));
  options.parameters = {{"N", "19"}};
  options.nest_widths = {5};
  ExpectBitsOfPoints(text, options, nullptr);
}

// Two statements have points at the same place of the order: which of them
// comes first decides whether versions may overwrite each other.
TEST(NestTest, StatementsAtOnePlaceOfTheOrderOverwriteNothing) {
  const std::string text = R"(
param N = 3
task one
  creates a(i)(j) as n
  for i = 0:N  j = 0:N
  using b(i-1)(j+1) as r where i - 1 >= 0 and j + 1 <= N else 0.5
  code
    n = -0.75*r - 0.75
  end code
end task
task two
  creates b(i)(j) as n
  for i = 0:N  j = 0:N
  using a(i)(j+1) as r where j + 1 <= N else 0.25
  code
    n = 0.5*r + 0.5
  end code
end task
task last
  creates c(i)(j) as n
  for i = 0:N  j = 0:N
  using b(N-j)(j) as x
  code
    n = i + x
  end code
end task
result c
)";
  CompileOptions options = NestOptions();
  for (int64_t width = 1; width <= 5; ++width) {
    options.nest_widths = {width};
    ExpectBitsOfPoints(text, options, nullptr);
  }
}

// Sums are rounded once they are whole, so a factor that is made of sums of
// itself has no tiles by reductions.
TEST(NestTest, AReductionThatIsMadeOfItselfRunsByPoints) {
  const std::string text = R"(
param N = 9
boundary s(i)(0) = i
reduce s(i)(j) = sum(s(k)(j-1)) for i = 0:N  j = 1:N over k = 0:N
result s(:)(N)
)";
  const Job job = MustCompile(text, NestOptions());
  EXPECT_THAT(job.lowering, StartsWith(kPointByPoint));
  EXPECT_THAT(job.lowering,
              testing::HasSubstr("depend on earlier results of it"));
  MustDigest(job, nullptr);
}

std::string WarningsOf(const std::string& text, const CompileOptions& options) {
  Diagnostics diagnostics("test", "");
  const auto job = Compile(text, options, KernelRegistry(), diagnostics);
  EXPECT_TRUE(job.ok()) << job.status() << diagnostics.ToString();
  return diagnostics.ToString();
}

// Points cost a thousand times as much as tiles: never a silent fall to them.
TEST(NestTest, ANestWithoutTilesIsNamedAtItsPlace) {
  const std::string text = R"(
param N = 200
boundary a(i)(0) = i
boundary b(i)(0) = 2*i
task first
  creates a(i)(j) as n
  for i = 0:N  j = 1:N
  using b(i)(j-1) as x
  code n = 0.5*x end code
end task
task second
  creates b(i)(j) as n
  for i = 0:N  j = 1:N
  using a(N-i)(j-1) as x
  code n = x + 1 end code
end task
result a(:)(N)
result b(:)(N)
)";
  CompileOptions options = NestOptions();
  EXPECT_EQ(WarningsOf(text, options), "");
  options.lower_nest = [](const PointProgram&, const NestTarget&,
                          std::string&) -> absl::StatusOr<Program> {
    return absl::UnimplementedError(
        "no order of the points of task second in tiles was found in bounded "
        "time");
  };
  // In chunks it isn't slow.
  EXPECT_EQ(WarningsOf(text, options), "");
  options.chunk_points = 0;
  EXPECT_EQ(
      WarningsOf(text, options),
      "test.dog:11:6: warning[D028]: the program runs point by point, in 80802 "
      "tasks, for its loop nest has no tiles: no order of the points of task "
      "second in tiles was found in bounded time\n"
      "11 | task second\n"
      "   |      ^^^^^^\n"
      "   = help: let tasks read each other at like distances, or cut the "
      "program in two with a file between; docs/LANGUAGE.md, Reductions, says "
      "which loop nests have tiles\n");
  // Where nothing is named the task with most points is, with a place.
  options.lower_nest = [](const PointProgram&, const NestTarget&,
                          std::string&) -> absl::StatusOr<Program> {
    return absl::UnimplementedError("it has too many tasks");
  };
  EXPECT_THAT(WarningsOf(text, options),
              StartsWith("test.dog:5:6: warning[D028]: "));
  // Silent where points are few, or asked for.
  options.parameters = {{"N", "50"}};
  EXPECT_EQ(WarningsOf(text, options), "");
  options.parameters.clear();
  options.coalesce = false;
  EXPECT_EQ(WarningsOf(text, options), "");
}

TEST(NestTest, AReductionWithoutTilesIsNamedAtItsPlace) {
  const std::string text = R"(
param N = 200
boundary s(i)(0) = i
reduce s(i)(j) = sum(s(k)(j-1)) for i = 0:N  j = 1:N over k = 0:N
result s(:)(N)
)";
  EXPECT_THAT(
      WarningsOf(text, NestOptions()),
      testing::AllOf(StartsWith("test.dog:4:8:"),
                     testing::HasSubstr("depend on earlier results of it")));
}

TEST(NestTest, SurvivesAllFaults) {
  for (const auto& path : NestPrograms()) {
    SCOPED_TRACE(path.filename().string());
    CompileOptions options = NestOptions();
    options.target = {.agents = 4};
    options.nest_widths = {9, 7};
    Simulate(
        MustCompile(ReadFileText(path), options),
        {.agents = 4, .faults = ManyFaults(), .fault_span = absl::Seconds(1)},
        3);
  }
}

NestBody CholeskyBody() {
  const Job job = MustCompile(
      ReadFileText(absl::StrCat(DOGGED_PROGRAMS_DIR, "/nests/cholesky.dog")),
      NestOptions());
  NestBody out;
  for (const KernelSpec& spec : job.program.kernels) {
    if (spec.kind != "nest") continue;
    auto body = NestBody::Decode(spec.body);
    EXPECT_TRUE(body.ok()) << body.status();
    if (body.ok() && body->nodes.size() > out.nodes.size()) out = *body;
  }
  return out;
}

// A job may come from anybody: positions beyond their lists, loops without end
// and blocks beyond all memory are refused.
TEST(NestTest, UnsoundTilesAreRefused) {
  const NestBody good = CholeskyBody();
  ASSERT_GT(good.nodes.size(), 10u);
  using Damage = std::function<void(NestBody&)>;
  const auto node = [](NestNode::Kind kind,
                       const std::function<void(NestNode&)>& damage) -> Damage {
    return [kind, damage](NestBody& body) {
      damage(
          *std::find_if(body.nodes.begin(), body.nodes.end(),
                        [kind](const NestNode& n) { return n.kind == kind; }));
    };
  };
  const std::vector<std::pair<std::string, Damage>> damages = {
      {"a node of itself", [](NestBody& b) { b.nodes[0].children = {0}; }},
      {"a node of two",
       [](NestBody& b) {
         b.nodes[0].children.push_back(b.nodes[0].children[0]);
       }},
      {"no such node", [](NestBody& b) { b.nodes[0].children = {1 << 20}; }},
      {"no nodes", [](NestBody& b) { b.nodes.clear(); }},
      {"no such block",
       [](NestBody& b) {
         b.statements[0].stores[0].block =
             static_cast<int32_t>(b.blocks.size());
       }},
      {"no store", [](NestBody& b) { b.statements[0].stores.clear(); }},
      {"a block of too much",
       [](NestBody& b) { b.blocks[0].extents = {1 << 30}; }},
      {"a negative block", [](NestBody& b) { b.blocks[0].extents = {-1}; }},
      {"an operand of itself",
       [](NestBody& b) {
         b.exprs.push_back({.op = NestExpr::Op::kNegate,
                            .a = static_cast<int32_t>(b.exprs.size())});
       }},
      {"no such tile index",
       [](NestBody& b) {
         b.exprs.push_back({.op = NestExpr::Op::kTile, .value = b.tile_rank});
       }},
      {"a loop that stands still",
       node(NestNode::Kind::kLoop, [](NestNode& n) { n.step = 0; })},
      {"a loop without an end",
       node(NestNode::Kind::kLoop, [](NestNode& n) { n.last = -1; })},
      {"no such variable",
       node(NestNode::Kind::kLoop, [](NestNode& n) { n.number = 99; })},
      {"no such statement",
       node(NestNode::Kind::kCall, [](NestNode& n) { n.number = 99; })},
      {"too few arguments",
       node(NestNode::Kind::kCall, [](NestNode& n) { n.arguments.clear(); })},
      {"a condition that is none",
       node(NestNode::Kind::kIf, [](NestNode& n) { n.first = 1 << 20; })},
      {"no such use",
       node(NestNode::Kind::kPresent, [](NestNode& n) { n.number = 99; })},
  };
  for (const auto& [what, damage] : damages) {
    NestBody body = good;
    damage(body);
    EXPECT_FALSE(NestBody::Decode(body.Encode()).ok()) << what;
  }
}

// A tile of the second substitution reads tiles of the factors all along a row,
// and names each of them: of a large matrix they are larger. It had run point
// by point from some order between 1000 and 1600 on, for minutes.
TEST(NestTest, TilesGrowWhereOneReadsThemAlongAnIndex) {
  const std::string text =
      ReadFileText(absl::StrCat(DOGGED_PROGRAMS_DIR, "/nests/lu_solve.dog"));
  for (const std::string order : {"1600", "4000"}) {
    CompileOptions options = NestOptions();
    options.parameters = {{"N", order}};
    EXPECT_THAT(MustCompile(text, options).lowering, StartsWith(kLoopNest))
        << order;
  }
}

// Whatever is decoded is encoded as it was.
TEST(NestTest, DamagedTilesAreRefusedOrWhole) {
  const std::string good = CholeskyBody().Encode();
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    Rng rng(seed);
    std::string damaged = good;
    damaged[rng.Below(std::ssize(damaged))] = static_cast<char>(rng.Below(256));
    const auto body = NestBody::Decode(damaged);
    if (!body.ok()) continue;
    const auto again = NestBody::Decode(body->Encode());
    ASSERT_TRUE(again.ok()) << "seed " << seed;
    EXPECT_EQ(again->Encode(), body->Encode()) << "seed " << seed;
  }
}

}  // namespace
// A stencil's own tiles could do both programs below. They pay where tiles
// share planes of neighbours, or where a point's steps need nothing else.
TEST(NestTest, ProductsOfMatricesAreNoStencils) {
  CompileOptions options = NestOptions();
  options.prefers_nest = false;
  options.parameters = {{"N", "50"}};
  const std::string product = R"(
param N = 9
input A(i)(k) for i = 0:N-1  k = 0:N-1 else 0.5*i + k
input B(k)(j) for k = 0:N-1  j = 0:N-1 else k - 0.25*j
boundary C(i)(j)(0) = 1
task add
  creates C(i)(j)(k+1) as n
  for i = 0:N-1  j = 0:N-1  k = 0:N-1
  using C(i)(j)(k) as c  A(i)(k) as a  B(k)(j) as b
  code
    n = c + a*b
  end code
end task
result C(:)(:)(N)
)";
  ExpectBitsOfPoints(product, options, nullptr);
  options.shape = TileShape{.widths = {8, 8}, .depth = 4};
  EXPECT_THAT(
      MustCompile(product, options).lowering,
      testing::HasSubstr("5 x 5 tiles of 10 x 10 points, 4 steps deep"));
  options.shape.reset();
  // Factors would go from agent to agent.
  options.target = {.agents = 2, .workers = 1};
  EXPECT_THAT(MustCompile(product, options).lowering,
              testing::HasSubstr("steps deep"));
  options.target = {};
  const std::string steps_of_points = R"(
param N = 9
input k(x) for x = 0:N-1 else 3 + x/N
boundary u(x)(0) = 0.25
task step
  creates u(x)(t+1) as n
  for x = 0:N-1  t = 0:N-1
  using u(x)(t) as c  k(x) as r
  code
    n = r*c*(1 - c)
  end code
end task
result u(:)(N)
)";
  EXPECT_THAT(MustCompile(steps_of_points, options).lowering,
              testing::HasSubstr("steps deep"));
}

TEST(NestTest, TilesAreLongerWhereAnIndexIsShort) {
  const std::string text = R"(
param N = 9
param M = 9
boundary s(i)(j)(0) = 1
task up
  creates s(i)(j)(k+1) as n
  for i = 0:N-1  j = 0:N-1  k = 0:M-1
  using s(i)(j)(k) as a
  code
    n = a + k
  end code
end task
result s(:)(:)(M)
)";
  CompileOptions options = NestOptions();
  options.parameters = {{"N", "1000"}, {"M", "1000"}};
  EXPECT_THAT(MustCompile(text, options).lowering,
              testing::HasSubstr("13 x 13 x 13 tiles of 80 x 80 x 80"));
  options.parameters = {{"N", "1000"}, {"M", "10"}};
  EXPECT_THAT(MustCompile(text, options).lowering,
              testing::HasSubstr("5 x 5 x 1 tiles of 200 x 200 x 16"));
}

// Points that a task or two would compute in no time are not cut into skewed
// tiles, of which finding who reads what takes isl seconds; nor are domains
// with conditions on remainders taken to pieces for it.
TEST(NestTest, ASmallSkewedNestIsATileOrTwo) {
  const std::string text = R"(
boundary a(i)(j)(k) = 0.25*(i + j + k)
task t
  creates a(i)(j)(k) as n
  for i = 1:7  j = 2:9  k = 0:3
  using
    a(i+1)(j)(k+1) as x
    a(i-1)(j)(k) as y where (i + k) % 2 == 0 else 0.5
    a(i-1)(j+2)(k) as z
  code
    n = 0.3*x + 0.3*y + 0.2*z
  end code
end task
result a(i)(j)(k) for i = 1:7  j = 2:min(5, i+2)  k = 0:3
)";
  ExpectBitsOfPoints(text, NestOptions(), nullptr);
  EXPECT_LE(MustCompile(text, NestOptions()).program.TaskCount(), 6);
}

// Labels of a boundary that skewed tasks read have hundreds of pieces: the
// tiles are found of what is around them, or they would not be in bounded time.
TEST(NestTest, ManyPiecesOfABoundaryAreReadAsOne) {
  const std::string text = R"(
boundary a(i)(j)(k) = 0.25*(i + j + k)
boundary b(i)(j)(k) = 0.25*(i + j + k)
task first
  creates a(i)(j)(k) as n
  for i = 3:6  j = 3:10  k = max(1, i-2):7
  using a(i-2)(j+1)(k+2) as x  a(i-2)(j)(k) as y
  code
    n = 0.3*x + 0.4*y
  end code
end task
task second
  creates b(i)(j)(k) as n
  for i = 3:6  j = max(3, i-3):10  k = 1:7
  using a(i-1)(j)(k+1) as x  b(i-2)(j)(k) as y
  code
    n = 0.3*x + 0.4*y
  end code
end task
result a(i)(j)(k) for i = 3:6  j = 3:min(10, i+3)  k = 1:min(7, j+1)
result b(i)(j)(k) for i = 3:6  j = 3:min(10, i+1)  k = 1:7
)";
  ExpectBitsOfPoints(text, NestOptions(), nullptr);
}

}  // namespace dogged::dsl

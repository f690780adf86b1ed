// Aim: text to bits. Every way in which the back end can run a program gives
// the same bits as plain loops: in tiles of any shape, point by point,
// interpreted, as compiled C.
// Method: the programs of apps/ against their references; random stencils,
// written as text from a seed, against loops over the same choice.
#include "dsl/compile.h"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "apps/reference.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "tests/dsl/compile_tools.h"
#include "tests/dsl/random_stencil.h"

namespace dogged::dsl {
namespace {

// Stands in for the analysis where it has nothing to find: results are written
// out, there are no boundaries, and single assignment holds by construction.
void TrustProgram(CheckedProgram& program, Diagnostics&) {
  for (const CheckedTask& task : program.tasks) {
    const Domain domain = Instantiate(task.domain, program);
    for (const CheckedCreate& create : task.creates) {
      const Box box =
          MakeResult(create.ref.array, domain, Instantiate(create.ref, program))
              .box;
      CheckedArray& array = program.arrays[create.ref.array];
      for (int i = 0; i < box.size(); ++i) {
        const auto s = static_cast<size_t>(i);
        if (array.lower.size() <= s) {
          array.lower.push_back(box.lower[i]);
          array.upper.push_back(box.upper[i]);
        }
        array.lower[s] = std::min(array.lower[s], box.lower[i]);
        array.upper[s] = std::max(array.upper[s], box.upper[i]);
      }
    }
  }
}

TEST(CompileTest, Heat1dIsItsReference) {
  const std::string text = ReadApp("heat1d/heat1d.dog");
  CompileOptions options = Options();
  options.parameters = {{"N", "131"}, {"T", "17"}};
  const SerialOutcome out = MustRun(text, options);
  ASSERT_EQ(out.values.size(), 1u);
  EXPECT_THAT(out.values[0].span<double>(),
              testing::ElementsAreArray(apps::Heat1d(131, 17)));
  const KernelCache cache;
  ExpectOneDigest(text, options, {.widths = {20}, .depth = 4}, cache.Source());
}

TEST(CompileTest, SlidesAreHeat1dAtItsDefaults) {
  const SerialOutcome slides = MustRun(ReadApp("heat1d/slides.dog"), Options());
  const SerialOutcome heat = MustRun(ReadApp("heat1d/heat1d.dog"), Options());
  EXPECT_EQ(slides.digest, heat.digest);
  EXPECT_THAT(heat.values[0].span<double>(),
              testing::ElementsAreArray(apps::Heat1d(5001, 100)));
}

TEST(CompileTest, Heat2dIsItsReference) {
  const std::string text = ReadApp("heat2d/heat2d.dog");
  CompileOptions options = Options();
  options.parameters = {{"N", "41"}, {"T", "11"}};
  const SerialOutcome out = MustRun(text, options);
  ASSERT_EQ(out.values.size(), 1u);
  EXPECT_THAT(out.values[0].span<double>(),
              testing::ElementsAreArray(apps::Heat2d(41, 11)));
  const KernelCache cache;
  ExpectOneDigest(text, options, {.widths = {11, 14}, .depth = 4},
                  cache.Source());
}

TEST(CompileTest, ASerialRunTellsHowFarItIs) {
  CompileOptions options = Options();
  options.parameters = {{"N", "31"}, {"T", "100"}};
  Diagnostics diagnostics("", "");
  std::vector<int64_t> moments;
  const auto out =
      SerialRun(ReadApp("heat1d/heat1d.dog"), options, KernelRegistry(),
                diagnostics, [&moments](int64_t done, int64_t needed) {
                  moments.push_back(done);
                  EXPECT_EQ(needed, 5);
                });
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(moments, testing::ElementsAre(1, 2, 3, 4, 5));
}

TEST(CompileTest, WavefrontIsItsReference) {
  const std::string text = ReadApp("wavefront/wavefront.dog");
  CompileOptions options = Options();
  options.parameters = {{"N", "23"}};
  const SerialOutcome out = MustRun(text, options);
  EXPECT_EQ(out.values[0].span<double>()[0], apps::Wavefront(23));
}

TEST(CompileTest, IntermediateStepsAndRangesCanBeAskedFor) {
  const std::string text = ReadApp("heat1d/heat1d.dog");
  CompileOptions options = Options();
  options.parameters = {{"N", "61"}, {"T", "13"}};
  options.selections = {"phi(:)(5)", "phi(:)(:)", "phi(:)(13)", "phi",
                        "phi(7)(4)"};
  options.shape = TileShape{.widths = {16}, .depth = 3};
  const Job job = MustCompile(text, options);
  // phi(:)(13) is the program's own; phi(7)(4) is within phi(:)(:).
  ASSERT_EQ(job.program.views.size(), 3u);
  const SerialOutcome out = MustRun(text, options);
  const auto all = out.values[2].span<double>();
  ASSERT_EQ(all.size(), 61u * 14u);
  for (int64_t t = 0; t <= 13; ++t) {
    const std::vector<double> expected = apps::Heat1d(61, t);
    for (size_t x = 0; x < 61; ++x) {
      EXPECT_EQ(all[x * 14 + static_cast<size_t>(t)], expected[x])
          << x << " " << t;
    }
  }
  ExpectOneDigest(text, options, *options.shape, nullptr);
}

// A file of an array in steps is what an input in such steps takes.
TEST(CompileTest, InputsMayBeInSteps) {
  constexpr char kText[] = R"(
input v(t)(k) for t = 2:9:3  k = 0:3
task twice
  creates w(k)(t) as n
  for t = 2:9:3  k = 0:3:2
  using
    v(t)(k) as c
  code
    n = 2*c
  end code
end task
result w
)";
  Value file = Value::Allocate(ElementType::kDouble, {3, 4});
  for (size_t i = 0; i < 12; ++i) {
    file.mutable_span<double>()[i] = static_cast<double>(i);
  }
  file.Seal();
  CompileOptions options = Options();
  options.inputs["v"] = file;
  const SerialOutcome out = MustRun(kText, options);
  ASSERT_EQ(out.values.size(), 1u);
  EXPECT_EQ(out.values[0].shape(), (Shape{2, 3}));
  EXPECT_THAT(out.values[0].span<double>(),
              testing::ElementsAre(0, 8, 16, 4, 12, 20));
  // The box with its gaps is not what was asked for.
  options.inputs["v"] = Value::Allocate(ElementType::kDouble, {8, 4});
  const auto refusal = [&] {
    Diagnostics diagnostics("", "");
    return std::string(Compile(kText, options, KernelRegistry(), diagnostics)
                           .status()
                           .message());
  };
  EXPECT_EQ(refusal(), "input v: has shape (8)(4), the program wants (3)(4)");
  options.inputs["v"] = Value::Allocate(ElementType::kDouble, {12});
  EXPECT_EQ(refusal(), "input v: has shape (12), the program wants (3)(4)");
  options.inputs["v"] = Value::Allocate(ElementType::kDouble, {});
  EXPECT_EQ(
      refusal(),
      "input v: has shape () (a single number), the program wants (3)(4)");
  options.inputs["v"] = Value::Allocate(ElementType::kInt64, {3, 4});
  EXPECT_EQ(refusal(),
            "input v: holds elements of type int64, the program wants double: "
            "write it anew:  np.save(file, a.astype('<f8')), or declare the "
            "array as int64, as in  array A(i = 0:N) : int64");
}

// The file's dimensions are the label's, in whatever order its tasks run.
TEST(Compile, InputsFromFilesDoNotDependOnTheOrderOfRanges) {
  constexpr char kText[] = R"(param T = 3
input c(x)(y) for $0
boundary u(x)(y)(0) = 0
task step
  creates u(x)(y)(t) as n
  for x = 0:7  y = 0:4  t = 1:T
  using u(x)(y)(t-1) as a  c(x)(y) as b
  code n = 0.5*a + b end code
end task
)";
  CompileOptions options = Options();
  Value file = Value::Allocate(ElementType::kDouble, {8, 5});
  for (size_t i = 0; i < 40; ++i) {
    file.mutable_span<double>()[i] = static_cast<double>(i);
  }
  file.Seal();
  options.inputs["c"] = file;
  options.shape = TileShape{.widths = {3, 2}, .depth = 2};
  const std::string along = absl::Substitute(kText, "x = 0:7  y = 0:4");
  const std::string across = absl::Substitute(kText, "y = 0:4  x = 0:7");
  const SerialOutcome out = MustRun(across, options);
  ASSERT_EQ(out.values.size(), 1u);
  EXPECT_EQ(out.values[0].span<double>()[1], 1.75);
  for (const bool coalesce : {false, true}) {
    options.coalesce = coalesce;
    const Job job = MustCompile(across, options);
    EXPECT_EQ(MustDigest(job, nullptr),
              MustDigest(MustCompile(along, options), nullptr))
        << job.lowering;
  }
}

TEST(CompileTest, ChosenTilesGiveTheSameBits) {
  const std::string text = ReadApp("heat2d/heat2d.dog");
  CompileOptions options = Options();
  options.parameters = {{"N", "150"}, {"T", "9"}};
  options.target = {.agents = 4, .workers = 2};
  const Job job = MustCompile(text, options);
  EXPECT_THAT(job.lowering, testing::HasSubstr("tiles of"));
  EXPECT_EQ(MustDigest(job, nullptr), MustRun(text, options).digest.ToString());
}

TEST(CompileTest, JobsSurviveTheWire) {
  CompileOptions options = Options();
  options.parameters = {{"N", "61"}, {"T", "13"}};
  const Job job = MustCompile(ReadApp("heat1d/heat1d.dog"), options);
  const absl::StatusOr<Job> again = Job::Decode(job.Encode());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->Encode(), job.Encode());
  EXPECT_EQ(MustDigest(*again, nullptr), MustDigest(job, nullptr));
}

// The labels that a ring reads at its other end come from a boundary.
TEST(CompileTest, RingsReadBoundaries) {
  const std::string text = R"(
param N = 20
param T = 5
boundary u(x)(0) = x where x >= 0 and x < N
boundary u(x)(t) = periodic(x)
task shift
  creates u(x)(t) as n
  for x = 0:N-1  t = 1:T
  using u(x+1)(t-1) as east
  code
    n = east + 1
  end code
end task
result u(:)(T)
)";
  const SerialOutcome out = MustRun(text, Options());
  ASSERT_EQ(out.values.size(), 1u);
  ASSERT_EQ(out.values[0].span<double>().size(), 20u);
  for (size_t x = 0; x < 20; ++x) {
    EXPECT_EQ(out.values[0].span<double>()[x],
              static_cast<double>((x + 5) % 20 + 5));
  }
  const KernelCache cache;
  ExpectOneDigest(text, Options(), {.widths = {7}, .depth = 2}, cache.Source());
}

constexpr char kRedBlack[] = R"(
boundary u(0)(y)(t)   = 1
boundary u(N-1)(y)(t) = 0
boundary u(x)(0)(t)   = 0.25 where x > 0 and x < N-1
boundary u(x)(N-1)(t) = 0.75 where x > 0 and x < N-1
boundary u(x)(y)(0)   = 0.5 where x > 0 and x < N-1 and y > 0 and y < N-1

task red
  creates u(x)(y)(t) as n
  for  x = 1:N-2  y = 1:N-2  t = 1:T
  where (x + y) % 2 == 0
  using
    u(x-1)(y)(t-1) as west
    u(x+1)(y)(t-1) as east
    u(x)(y-1)(t-1) as south
    u(x)(y+1)(t-1) as north
  code
    n = 0.25*(west + east + south + north)
  end code
end task

task black
  creates u(x)(y)(t) as n
  for  x = 1:N-2  y = 1:N-2  t = 1:T
  where (x + y) % 2 == 1
  using
    u(x-1)(y)(t) as west
    u(x+1)(y)(t) as east
    u(x)(y-1)(t) as south
    u(x)(y+1)(t) as north
  code
    n = 0.25*(west + east + south + north)
  end code
end task

result u(x)(y)(T) for x = 1:N-2  y = 1:N-2
)";

// Half of each edge is read at step 0, the other half at step T.
TEST(CompileTest, RedBlackIsItsLoops) {
  constexpr size_t kN = 12;
  std::vector<std::vector<double>> u(kN, std::vector<double>(kN, 0.5));
  for (size_t i = 0; i < kN; ++i) {
    u[i][0] = 0.25;
    u[i][kN - 1] = 0.75;
  }
  u[0].assign(kN, 1);
  u[kN - 1].assign(kN, 0);
  for (size_t half = 0; half < 10; ++half) {
    for (size_t x = 1; x + 1 < kN; ++x) {
      for (size_t y = 1; y + 1 < kN; ++y) {
        if ((x + y) % 2 != half % 2) continue;
        u[x][y] =
            0.25 * (u[x - 1][y] + u[x + 1][y] + u[x][y - 1] + u[x][y + 1]);
      }
    }
  }
  const std::string text =
      absl::StrCat("param N = 12\nparam T = 5\n", kRedBlack);
  const SerialOutcome out = MustRun(text, Options());
  ASSERT_EQ(out.values.size(), 1u);
  const auto values = out.values[0].span<double>();
  ASSERT_EQ(values.size(), (kN - 2) * (kN - 2));
  for (size_t x = 1; x + 1 < kN; ++x) {
    for (size_t y = 1; y + 1 < kN; ++y) {
      EXPECT_EQ(values[(x - 1) * (kN - 2) + y - 1], u[x][y]) << x << " " << y;
    }
  }
  const KernelCache cache;
  ExpectOneDigest(text, Options(), {.widths = {5, 4}, .depth = 2},
                  cache.Source());
}

// Time steps that are all of one task, by turns.
TEST(CompileTest, TasksTakeTurnsInTime) {
  const std::string text = R"(
param N = 50
param T = 9
input u(x)(0) for x = 0:N else x*(N - x)
task odd
  creates u(x)(t) as n
  for  x = 0:N  t = 1:T:2
  using  u(x)(t-1) as c  u(x-1)(t-1) as l where x > 0 else 3
  code
    n = 0.5*(c + l)
  end code
end task
task even
  creates u(x)(t) as n
  for  x = 0:N  t = 2:T:2
  using  u(x)(t-1) as c  u(x-1)(t-1) as l where x > 0 else 3
  code
    n = c - 0.25*l
  end code
end task
result u(:)(T)
)";
  std::vector<double> u(51);
  for (size_t x = 0; x <= 50; ++x) u[x] = static_cast<double>(x * (50 - x));
  for (int t = 1; t <= 9; ++t) {
    for (size_t x = 51; x-- > 0;) {
      const double left = x > 0 ? u[x - 1] : 3;
      u[x] = t % 2 == 1 ? 0.5 * (u[x] + left) : u[x] - 0.25 * left;
    }
  }
  EXPECT_THAT(MustRun(text, Options()).values[0].span<double>(),
              testing::ElementsAreArray(u));
  ExpectOneDigest(text, Options(), {.widths = {17}, .depth = 4}, nullptr);
}

TEST(CompileTest, AKernelMakesTheElementsOfItsArray) {
  ElementType element = ElementType::kDouble;
  KernelRegistry registry;
  registry.Add({.name = "fill", .out_count = 1, .run = [&](NativeCall& call) {
                  call.out[0] = Value::Allocate(element, call.out_shapes[0]);
                  std::memset(call.out[0].mutable_data(), 0,
                              static_cast<size_t>(call.out[0].bytes()));
                  return absl::OkStatus();
                }});
  Diagnostics diagnostics("", "");
  const absl::StatusOr<Job> job = Compile(
      "kernel fill(out a)\narray A(i = 0:1) : double [4]\n"
      "task make creates A(i) as a for i = 0:1 call fill(a) end task\n"
      "result A(:)\n",
      Options(), registry, diagnostics);
  ASSERT_TRUE(job.ok()) << job.status() << diagnostics.ToString();
  EXPECT_TRUE(DigestOf(*job, registry, nullptr).ok());
  element = ElementType::kFloat;
  EXPECT_THAT(std::string(DigestOf(*job, registry, nullptr).status().message()),
              testing::HasSubstr("kernel fill left output 0 of type float, "
                                 "declared double"));
}

// A triangle of points, of which the result needs a smaller one.
TEST(CompileTest, TasksThatNobodyNeedsAreLeftOut) {
  const std::string text = R"(
param N = 20
task step
  creates w(i)(j) as n
  for  i = 0:N-1  j = 0:N-1
  using
    w(i-1)(j) as up   where i > 0 else 1
    w(i)(j-1) as left where j > 0 else 1
  code
    n = up + 2*left
  end code
end task
result w(4)(6)
)";
  CompileOptions options = Options();
  options.coalesce = false;
  const Job job = MustCompile(text, options);
  EXPECT_TRUE(job.program.every_task_needed);
  EXPECT_EQ(job.program.TaskCount(), 5 * 7);
  EXPECT_EQ(MustDigest(job, nullptr),
            MustRun(text, Options()).digest.ToString());
}

TEST(CompileTest, PlaceSaysWhichLabelsLiveTogether) {
  const std::string text = R"(
param N = 40
array w(i = 0:N-1)(j = 0:N-1) : double place j, i/8
task step
  creates w(i)(j) as n
  for  i = 0:N-1  j = 0:N-1
  using w(i-1)(j) as up where i > 0 else 1
  code
    n = 2*up
  end code
end task
result w(N-1)(:)
)";
  CompileOptions options = Options();
  options.coalesce = false;
  const Job job = MustCompile(text, options);
  ASSERT_EQ(job.program.arrays.size(), 1u);
  EXPECT_THAT(job.program.arrays[0].affinity_block, testing::ElementsAre(8, 1));
}

// A wavefront goes by its columns, unless it says something else.
TEST(CompileTest, PrioritiesAreTheProgramsIfItHasAny) {
  const auto priorities = [](const std::string& clause) {
    const std::string text = absl::StrCat(R"(
param N = 4
param C = 2
input w(i)(0) for i = 0:N-1 else 1
task step
  creates w(i)(j) as n
  for  i = 0:N-1  j = 1:N-1
  using w(i-1)(j) as up where i > 0 else 1  w(i)(j-1) as left
  code
    n = 2*up + left
  end code
)",
                                          clause, R"(
end task
result w(N-1)(:)
)");
    CompileOptions options = Options();
    options.coalesce = false;
    std::vector<int64_t> out;
    for (const TaskClass& c : MustCompile(text, options).program.classes) {
      out.push_back(c.priority.Evaluate({3, 2}));
    }
    return out;
  };
  EXPECT_THAT(priorities(""), testing::ElementsAre(0, -2));
  EXPECT_THAT(priorities("priority C*i - j + 7"), testing::ElementsAre(0, 11));
}

TEST(CompileTest, RandomStencilsAreTheirLoops) {
  const KernelCache cache;
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    Rng rng(seed);
    const RandomStencil stencil(rng.Stream("stencil"));
    SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", stencil.Text()));
    CompileOptions options = Options();
    options.analyze = TrustProgram;
    // Compiling takes most of the time: a few are enough.
    ExpectItsLoops(stencil, options, ShapeFor(stencil, rng),
                   seed <= 4 ? cache.Source() : CompileSource());
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace dogged::dsl

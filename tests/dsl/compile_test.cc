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
#include "apps/reference.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "tests/dsl/compile_tools.h"

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
      CheckedArray& array =
          program.arrays[static_cast<size_t>(create.ref.array)];
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

TEST(CompileTest, WavefrontIsItsReference) {
  const std::string text = ReadApp("wavefront/wavefront.dog");
  CompileOptions options = Options();
  options.parameters = {{"N", "23"}};
  const SerialOutcome out = MustRun(text, options);
  EXPECT_EQ(out.values[0].span<double>()[0], apps::Wavefront(23));
  const Job job = MustCompile(text, options);
  EXPECT_THAT(job.lowering, testing::HasSubstr("point by point: task step"));
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

// What a kernel makes without being asked is no result with holes or worse.
// Steps that are all of one task, by turns.
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
  const Job job = MustCompile(text, Options());
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

// One random stencil program: the choice, as text and as loops.
struct RandomStencil {
  struct Read {
    int field;
    int lag;
    std::vector<int64_t> shift;
    double factor;
  };
  std::vector<int64_t> extents;
  int64_t steps = 0;
  int fields = 1;
  int order = 1;
  bool has_coefficient = false;
  std::vector<std::vector<Read>> reads;  // by field

  explicit RandomStencil(Rng rng) {
    const int64_t dims = 1 + rng.Below(3);
    for (int64_t d = 0; d < dims; ++d) {
      extents.push_back(dims == 1   ? 20 + rng.Below(120)
                        : dims == 2 ? 10 + rng.Below(20)
                                    : 9 + rng.Below(6));
    }
    steps = 1 + rng.Below(9);
    fields = static_cast<int>(1 + rng.Below(2));
    order = static_cast<int>(1 + rng.Below(2));
    has_coefficient = rng.Chance(0.5);
    const int64_t radius = 1 + rng.Below(2);
    for (int f = 0; f < fields; ++f) {
      reads.emplace_back();
      const int64_t count = 1 + rng.Below(5);
      for (int64_t r = 0; r < count; ++r) {
        Read read{.field = static_cast<int>(rng.Below(fields)),
                  .lag = static_cast<int>(1 + rng.Below(order)),
                  .shift = {},
                  .factor = rng.Unit() - 0.5};
        // A later field may read an earlier one at the same time.
        if (f == 1 && rng.Chance(0.3)) read.field = read.lag = 0;
        for (int64_t d = 0; d < dims; ++d) {
          read.shift.push_back(rng.Below(2 * radius + 1) - radius);
        }
        reads.back().push_back(read);
      }
    }
  }

  std::string Indices(const std::vector<int64_t>& shift) const {
    std::string out;
    for (size_t d = 0; d < extents.size(); ++d) {
      const int64_t s = shift.empty() ? 0 : shift[d];
      absl::StrAppend(&out, "(x", d, s < 0 ? "" : "+", s, ")");
    }
    return out;
  }
  std::string Ranges() const {
    std::string out = "  for\n";
    for (size_t d = 0; d < extents.size(); ++d) {
      absl::StrAppend(&out, "    x", d, " = 0:", extents[d] - 1, "\n");
    }
    return out;
  }

  std::string Text() const {
    std::string out;
    for (int f = 0; f < fields; ++f) {
      for (int t = 0; t < order; ++t) {
        absl::StrAppend(&out, "task init", f, t, "\n  creates f", f,
                        Indices({}), "(", t, ") as n\n", Ranges(),
                        "  code\n    n = sin(1.0 + ", t, " + ", f);
        for (size_t d = 0; d < extents.size(); ++d) {
          absl::StrAppend(&out, " + 0.1*", d + 1, "*x", d);
        }
        absl::StrAppend(&out, ")\n  end code\nend task\n");
      }
    }
    if (has_coefficient) {
      absl::StrAppend(&out, "task coefficient\n  creates k", Indices({}),
                      " as n\n", Ranges(),
                      "  code\n    n = 0.5 + 0.25*(x0 % 3)\n",
                      "  end code\nend task\n");
    }
    for (int f = 0; f < fields; ++f) {
      absl::StrAppend(&out, "task step", f, "\n  creates f", f, Indices({}),
                      "(t) as n\n", Ranges(), "    t = ", order, ":",
                      order + steps - 1, "\n  using\n");
      std::string sum = "0.125";
      const auto& own = reads[static_cast<size_t>(f)];
      for (size_t r = 0; r < own.size(); ++r) {
        absl::StrAppend(&out, "    f", own[r].field, Indices(own[r].shift),
                        "(t-", own[r].lag, ") as u", r);
        std::string where;
        for (size_t d = 0; d < extents.size(); ++d) {
          const int64_t s = own[r].shift[d];
          if (s == 0) continue;
          absl::StrAppend(
              &where, where.empty() ? "" : " and ", "x", d,
              s < 0 ? " >= " : " <= ", s < 0 ? -s : extents[d] - 1 - s);
        }
        if (!where.empty()) {
          absl::StrAppend(&out, " where ", where, " else 0.25");
        }
        absl::StrAppend(&out, "\n");
        absl::StrAppend(&sum, " + ", absl::StrFormat("(%.17g)", own[r].factor),
                        "*u", r);
      }
      if (has_coefficient) {
        absl::StrAppend(&out, "    k", Indices({}), " as k0\n");
        sum = absl::StrCat("k0*(", sum, ")");
      }
      absl::StrAppend(&out, "  code\n    n = ", sum,
                      "\n  end code\nend task\n");
      absl::StrAppend(&out, "result f", f);
      absl::StrAppend(&out, Indices({}), "(", order + steps - 1, ")\n",
                      Ranges());
    }
    return out;
  }

  // The fields at the last level, one after another.
  std::vector<std::vector<double>> Loops() const;
};

std::vector<std::vector<double>> RandomStencil::Loops() const {
  size_t count = 1;
  for (const int64_t extent : extents) count *= static_cast<size_t>(extent);
  const auto last = static_cast<size_t>(order + steps);
  std::vector values(static_cast<size_t>(fields),
                     std::vector(last, std::vector<double>(count)));
  const auto read_at = [&](const Read& read, const std::vector<int64_t>& x,
                           size_t t) {
    size_t at = 0;
    for (size_t d = 0; d < x.size(); ++d) {
      const int64_t p = x[d] + read.shift[d];
      if (p < 0 || p >= extents[d]) return 0.25;
      at = at * static_cast<size_t>(extents[d]) + static_cast<size_t>(p);
    }
    return values[static_cast<size_t>(read.field)]
                 [t - static_cast<size_t>(read.lag)][at];
  };
  const auto value_at = [&](size_t f, size_t t, const std::vector<int64_t>& x) {
    if (t < static_cast<size_t>(order)) {
      double sum = 1.0 + static_cast<double>(t) + static_cast<double>(f);
      for (size_t d = 0; d < x.size(); ++d) {
        sum += 0.1 * static_cast<double>(d + 1) * static_cast<double>(x[d]);
      }
      return std::sin(sum);
    }
    double sum = 0.125;
    for (const Read& read : reads[f]) sum += read.factor * read_at(read, x, t);
    if (!has_coefficient) return sum;
    return (0.5 + 0.25 * static_cast<double>(x[0] % 3)) * sum;
  };
  for (size_t t = 0; t < last; ++t) {
    for (size_t f = 0; f < values.size(); ++f) {
      std::vector<int64_t> x(extents.size(), 0);
      for (double& value : values[f][t]) {
        value = value_at(f, t, x);
        size_t d = x.size() - 1;
        while (d > 0 && x[d] + 1 == extents[d]) x[d--] = 0;
        ++x[d];
      }
    }
  }
  std::vector<std::vector<double>> out;
  for (auto& field : values) out.push_back(field.back());
  return out;
}

TEST(CompileTest, RandomStencilsAreTheirLoops) {
  const KernelCache cache;
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    Rng rng(seed);
    const RandomStencil stencil(rng.Stream("stencil"));
    const std::string text = stencil.Text();
    SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", text));
    CompileOptions options = Options();
    options.analyze = TrustProgram;
    const SerialOutcome out = MustRun(text, options);
    const auto expected = stencil.Loops();
    ASSERT_EQ(out.values.size(), expected.size());
    for (size_t f = 0; f < expected.size(); ++f) {
      ASSERT_THAT(out.values[f].span<double>(),
                  testing::ElementsAreArray(expected[f]));
    }
    TileShape shape{.widths = {}, .depth = 1 + rng.Below(6)};
    shape.slab_points = 1 + rng.Below(200);
    for (size_t d = 0; d < stencil.extents.size(); ++d) {
      shape.widths.push_back(1 + rng.Below(30));
    }
    // Compiling takes most of the time: a few are enough.
    ExpectOneDigest(text, options, shape,
                    seed <= 4 ? cache.Source() : CompileSource());
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace dogged::dsl

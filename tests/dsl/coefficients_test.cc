// Aim: a stencil that reads arrays which its steps don't make, of time alone,
// of fewer dimensions than its own or of more, runs in tiles, with the bits of
// its points. Method: random stencils with random such arrays, computed or from
// files, read at random places, against plain loops and in every way to run; a
// program with all of it in loops, and on simulated agents.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "dsl/ir/tile_plan_codec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/dsl/compile_tools.h"
#include "tests/dsl/random_coefficients.h"
#include "tests/dsl/random_stencil.h"
#include "tests/dsl/repeat_tools.h"

namespace dogged::dsl {
namespace {

using testing::HasSubstr;

TEST(Coefficients, OfRandomStencilsAreTheirLoops) {
  const KernelCache cache;
  const auto [first, last] = SeedRange(48);
  for (int64_t seed = first; seed <= last; ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    RandomStencil stencil(rng.Stream("stencil"));
    const RandomCoefficients coefficients(stencil, rng.Stream("profiles"));
    stencil.addition = coefficients.Addition();
    SCOPED_TRACE(absl::StrCat("DOGGED_TEST_SEEDS=", seed, ":", seed, "\n",
                              stencil.Text()));
    CompileOptions options = Options();
    options.inputs = coefficients.inputs();
    ExpectItsLoops(stencil, options, ShapeFor(stencil, rng),
                   seed <= 3 ? cache.Source() : CompileSource());
    if (HasFailure()) return;
  }
}

// A wave in a sponge, driven at a point and along an edge, by a source that
// depends on its own past.
constexpr char kWave[] = R"(
param N = 19
param M = 25
param T = 12
array source(t = 0:40) : double
input source(t) for t = 0:40 else sin(0.3*t)
boundary phase(0) = 0.5
task turn
  creates phase(t) as n
  for t = 1:T
  using
    phase(t-1)  as before
    source(t+1) as s
  code
    n = 0.5*before + s
  end code
end task
task inflow
  creates edge(y)(t) as n
  for y = 0:M  t = 1:T
  using phase(t) as p
  code
    n = p*sin(0.1*y)
  end code
end task
task sponge
  creates damp(i) as n
  for i = 0:M
  code
    n = 1 - 0.001*i
  end code
end task
boundary scale = 0.25
boundary u(0)(y)(0) = 0
boundary u(x)(y)(0) = 0 where x > 0
task enter
  creates u(0)(y)(t) as n
  for y = 0:M  t = 1:T
  using edge(y)(t) as e
  code
    n = e
  end code
end task
task step
  creates u(x)(y)(t) as n
  for x = 1:N  y = 0:M  t = 1:T
  using
    u(x-1)(y)(t-1) as west
    u(x)(y-1)(t-1) as south where y > 0 else 0
    source(t-1) as s where x == 7 and y == 11 else 0
    source(0) as first
    damp(x) as a
    damp(y) as b
    scale as k
  code
    n = a*b*(0.5*(west + south) + k*s + first)
  end code
end task
result u(:)(:)(T)
)";

constexpr char kBehind[] = R"(
task share
  creates part(t) as n
  for t = 1:T
  using
    u(3)(4)(t) as u
    source(t) as s
    phase(t-1) as p
  code
    n = u + s*p
  end code
end task
reduce energy = norm2(source(t)) over t = 0:T
result part
result energy
result damp(:)
result phase(:)
)";

CompileOptions Tiles() {
  CompileOptions options = Options();
  options.shape = TileShape{.widths = {9, 10}, .depth = 3};
  return options;
}

TEST(Coefficients, StayInTilesInEveryPlace) {
  const Job job = MustCompile(kWave, Tiles());
  EXPECT_THAT(job.lowering, HasSubstr("2 x 2 tiles of 10 x 13 points, 3 st"));
  ExpectOneDigest(kWave, Options(), *Tiles().shape, KernelCache().Source());
}

// Coefficients that are wanted, or read behind the tiles, are made there once
// more.
TEST(Coefficients, AreThereBehindTilesToo) {
  const std::string text = absl::StrCat(kWave, kBehind);
  const Job job = MustCompile(text, Tiles());
  EXPECT_THAT(job.lowering, HasSubstr("3 steps deep"));
  EXPECT_FALSE(job.program.every_task_needed);
  ExpectOneDigest(text, Options(), *Tiles().shape, nullptr);
  // All that is made twice is wanted.
  const std::string all = absl::StrCat(kWave, "result damp(:)\n");
  const Job whole = MustCompile(all, Tiles());
  EXPECT_EQ(whole.program.every_task_needed,
            MustCompile(all, Options()).program.every_task_needed);
}

TEST(Coefficients, ReadInALoop) {
  const std::string text = absl::StrReplaceAll(
      absl::StrCat(kWave, "reduce top(t) = normmax(u(x)(y)(t)) for t = 3:T:3 ",
                   "over x = 0:N y = 0:M\nresult phase(T)\n"),
      {{"param T = 12", "repeat T = 3:30:3 until top(T) > 7"},
       {"source(0) as first",
        "source(30+x-t) as first where x <= t + 10 else 0"}});
  const Job job = MustCompile(text, Tiles());
  EXPECT_THAT(job.lowering, HasSubstr("3 steps deep"));
  CompileOptions points = Options();
  points.coalesce = false;
  const Ended expected = RunHere(MustCompile(text, points), 1);
  const Ended ended = RunHere(job, 2);
  EXPECT_GT(ended.time, 3);
  EXPECT_LT(ended.time, 30);
  EXPECT_EQ(ended.time, expected.time);
  EXPECT_EQ(ended.digest, expected.digest);
}

// In larger steps, and backwards: from tasks, from files, of its own past.
TEST(Coefficients, ReadAtDistancesThatVary) {
  const std::string text = absl::StrReplaceAll(
      kWave, {{"boundary phase(0)", "boundary phase(-2)"},
              {"for t = 1:T\n  using\n    phase(t-1)",
               "for t = -1:2*T+1\n  using\n    phase(t-1)"},
              {"source(t+1) as s", "source(t+2) as s"},
              {"source(t-1) as s", "source(3*t+1) as s"},
              {"source(0) as first", "source(T-t) as first"},
              {"phase(t) as p", "phase(2*t+1) as p"},
              {"damp(x) as a", "damp(N-x) as a"},
              {"damp(i) as n\n  for i = 0:M", "damp(i) as n\n  for i = 0:3*M"},
              {"damp(y) as b", "damp(3*y) as b"}});
  const Job job = MustCompile(text, Tiles());
  EXPECT_THAT(job.lowering, HasSubstr("3 steps deep"));
  ExpectOneDigest(text, Options(), *Tiles().shape, KernelCache().Source());
  const std::string behind = absl::StrCat(text, kBehind);
  EXPECT_THAT(MustCompile(behind, Tiles()).lowering, HasSubstr("3 steps deep"));
  ExpectOneDigest(behind, Options(), *Tiles().shape, nullptr);
}

// The task at i makes p(i+3), and reads at i+2 what another makes at j-5.
TEST(Coefficients, MadeAtADistanceAndReadInLargerSteps) {
  const std::string text = R"(
param N = 40
param T = 20
task base
  creates q(j-5) as n
  for j = 0:2*N+20
  code
    n = sin(0.3*j)
  end code
end task
task make
  creates p(i+3) as n
  for i = -3:2*N+8
  using q(i+2) as w
  code
    n = w + 0.01*i
  end code
end task
boundary u(x)(0) = 0.5*x
boundary u(0)(t) = 1 where t > 0
task step
  creates u(x)(t) as n
  for x = 1:N  t = 1:T
  using
    u(x-1)(t-1) as west
    p(2*x)      as a
    p(2*x+5)    as b
    p(x+1)      as c
    p(2*t+1)    as d
  code
    n = 0.5*west + a*b + c - d
  end code
end task
result u(:)(T)
)";
  CompileOptions options = Options();
  options.shape = TileShape{.widths = {12}, .depth = 7};
  EXPECT_THAT(MustCompile(text, options).lowering, HasSubstr("7 steps deep"));
  ExpectOneDigest(text, Options(), *options.shape, KernelCache().Source());
}

// At sums of indices: from a file, from tasks, and what is made of such.
std::string Travelling() {
  constexpr char kRing[] = R"(
task circle
  creates ring(i)(d) as n
  for i = 0:T  d = -M:N where i + d < M
  using
    source(i+1) as s
    slope(i-d)  as w where i >= d else 2
    damp(3)     as a
    scale       as k
  code
    n = 1 - 0.001*d*s*a + k*w
  end code
end task
task slant
  creates slope(i) as n
  for i = 0:2*M+T
  using damp(i) as a where i <= M else 0.5
  code
    n = 0.25*a + 0.01*i
  end code
end task
boundary ring(i)(d) = 0.75 where i + d >= M
)";
  return absl::StrReplaceAll(
      absl::StrCat(kWave, kRing),
      {{"source(t-1) as s where",
        "source(x+t) as here\n    source(t-1) as s where"},
       {"source(0) as first", "source(x-t) as first where x >= t else 0.5"},
       {"damp(x) as a", "damp(x+y) as a where x + y <= M else 1"},
       {"damp(y) as b",
        "ring(t)(x-y) as b\n    slope(2*y-x+t) as c where 2*y + t >= x else 1"},
       {"n = a*b*(0.5", "n = a*b*(c*here + 0.5"}});
}

TEST(Coefficients, ReadAtSumsOfIndices) {
  const std::string text = Travelling();
  EXPECT_THAT(MustCompile(text, Tiles()).lowering,
              HasSubstr("2 x 2 tiles of 10 x 13 points, 3 st"));
  ExpectOneDigest(text, Options(), *Tiles().shape, KernelCache().Source());
  const std::string behind = absl::StrCat(text, kBehind, "result ring\n");
  EXPECT_THAT(MustCompile(behind, Tiles()).lowering, HasSubstr("3 steps deep"));
  ExpectOneDigest(behind, Options(), *Tiles().shape, nullptr);
}

TEST(Coefficients, AtSumsSurviveAllFaults) {
  Simulate(MustCompile(Travelling(), Tiles()),
           {.faults = ManyFaults(), .fault_span = absl::Seconds(3)}, 10);
}

// A table that is laid out in rows: a tile takes all between two of its points,
// so tiles are long where that is less.
TEST(Coefficients, AtSumsAreReckonedWith) {
  const std::string text = R"(
input table(i) for i = 0:999999 else i % 7
boundary u(x)(y)(0) = 0
task step
  creates u(x)(y)(t) as n
  for x = 0:999  y = 0:999  t = 1:500
  using
    u(x)(y)(t-1) as c
    u(x-1)(y)(t-1) as west where x > 0 else 0
    u(x)(y-1)(t-1) as south where y > 0 else 0
    table(1000*x+y) as k
  code
    n = k + 0.3*(c + west + south)
  end code
end task
result u(:)(:)(500)
)";
  const auto rows = [](const std::string& program) {
    CompileOptions options = Options();
    options.target = {.agents = 2, .workers = 2};
    const Job job = MustCompile(program, options);
    Decoder in(job.program.kernels.front().body);
    return DecodeTilePlan(in).widths;
  };
  const std::vector<int64_t> by_rows = rows(text);
  const std::vector<int64_t> by_columns =
      rows(absl::StrReplaceAll(text, {{"1000*x+y", "x+1000*y"}}));
  ASSERT_EQ(by_rows.size(), 2U);
  ASSERT_EQ(by_columns.size(), 2U);
  EXPECT_LT(by_rows[0], by_rows[1]);
  EXPECT_GT(by_columns[0], by_columns[1]);
}

// With one dimension of space, an array of one index may be of either.
TEST(Coefficients, OfOneIndexFollowWhatReadsThem) {
  const std::string text = R"(
param T = 90
task make
  creates w(i) as n
  for i = 0:T
  code
    n = 1.0/(i + 1)
  end code
end task
boundary u(x)(0) = x
task step
  creates u(x)(t) as n
  for x = 0:30  t = 1:T
  using
    u(x-1)(t-1) as west where x > 0 else 0
    w(x) as a
    w(t) as b
    w(T) as c
  code
    n = west*a + b - c
  end code
end task
result u(:)(T)
result w(:)
)";
  CompileOptions options = Options();
  options.shape = TileShape{.widths = {12}, .depth = 7};
  EXPECT_THAT(MustCompile(text, options).lowering,
              HasSubstr("2 tiles of 16 points, 7 steps deep"));
  ExpectOneDigest(text, Options(), *options.shape, nullptr);
}

// Arrays that no step makes may have as many indices as arrays that steps make,
// or more: read at numbers, turned round, at sums, and made of the sum of such
// an array.
constexpr char kSheets[] = R"(
param N = 30
param T = 40
input raw(i)(j) for i = 0:N+T  j = 0:N else 1 + (3*i + j) % 5
reduce all = sum(raw(i)(j)) over i = 0:N+T  j = 0:N
task weigh
  creates w(i)(j) as n
  for i = 0:N+T  j = 0:N
  where i >= j or (i + j) % 2 == 0
  using
    raw(i)(j) as r
    all       as a
  code
    n = (r + 0.5)/(a + 1)
  end code
end task
boundary w(i)(j) = 0.125 where i < j and (i + j) % 2 == 1
task layer
  creates k(x)(l)(m) as n
  for x = 0:N  l = 0:2  m = 0:1
  code
    n = sin(x + 0.1*l) + m
  end code
end task
task force
  creates f(t)(x) as n
  for t = -3:T  x = 0:N
  code
    n = 0.01*t - 0.02*x
  end code
end task
task push
  creates g(x)(t) as n
  for x = 0:N  t = 0:T
  using f(t-3)(x) as turned
  code
    n = 2*turned
  end code
end task
boundary h(x)(t) = 0.001*x*t
boundary u(x)(0) = x
task step
  creates u(x)(t) as n
  for x = 0:N  t = 1:T
  using
    u(x-1)(t-1)   as west where x > 0 else 0.5
    u(x)(t-1)     as c
    h(x)(t+1)     as next
    h(x+1)(t-12)  as past where t >= 12 else 1
    k(x)(0)(1)    as k0
    k(x)(2)(0)    as k2
    f(t)(x)       as force
    g(x)(t-1)     as g
    w(x+t)(x-1)   as a where x > 0 else 0
    w(2*x)(N-x)   as b
  code
    n = c + 0.1*k0*(west - c) + 0.01*k2*force + 0.001*(g + a) - b + next*past
  end code
end task
result u(:)(T)
)";

TEST(Coefficients, OfAsManyIndicesAsTheStencil) {
  CompileOptions options = Options();
  options.shape = TileShape{.widths = {11}, .depth = 6};
  EXPECT_THAT(MustCompile(kSheets, options).lowering,
              HasSubstr("3 tiles of 11 points, 6 steps deep"));
  const KernelCache cache;
  ExpectOneDigest(kSheets, Options(), *options.shape, cache.Source());
  const std::string behind = absl::StrCat(kSheets, R"(
reduce top(t) = max(u(x)(t)) for t = 6:T:6 over x = 0:N
reduce rough = norm2(w(i)(j)) over i = 3:9  j = 0:N
task mix
  creates mixed(t) as n
  for t = 6:T:6
  using
    top(t)     as u
    w(t)(3)    as w
    k(5)(1)(1) as k
    f(1)(t-6)  as f
  code
    n = u + w + k + f
  end code
end task
result mixed
result rough
result w(1:5)(:)
result k(:)(:)(:)
result f(:)(:)
)");
  EXPECT_THAT(MustCompile(behind, options).lowering,
              HasSubstr("3 tiles of 11 points, 6 steps deep"));
  ExpectOneDigest(behind, Options(), *options.shape, nullptr);
}

// With its dimensions in another order than those of space, of which a task
// holds a few planes at a time.
TEST(Coefficients, OfAllIndicesTurnedRound) {
  const std::string text = R"(
task make
  creates w(i)(j)(k) as n
  for i = 0:20  j = 0:60  k = 0:90
  code
    n = sin(i + 0.1*j + 0.01*k)
  end code
end task
boundary u(x)(y)(0) = x - y
task step
  creates u(x)(y)(t) as n
  for x = 0:89  y = 0:29  t = 1:9
  using
    u(x)(y)(t-1)   as c
    u(x-1)(y)(t-1) as west where x > 0 else 0
    w(2*t)(y)(x+1) as a
    w(t-1)(2*y)(x) as b
  code
    n = 0.5*(c + west) + a - 0.25*b
  end code
end task
result u(:)(:)(9)
)";
  CompileOptions options = Options();
  options.shape = TileShape{.widths = {90, 15}, .depth = 3, .slab_points = 30};
  EXPECT_THAT(MustCompile(text, options).lowering,
              HasSubstr("1 x 2 tiles of 90 x 15 points, 3 steps deep"));
  ExpectOneDigest(text, Options(), *options.shape, nullptr);
}

TEST(Coefficients, OfAsManyIndicesSurviveAllFaults) {
  CompileOptions options = Options();
  options.shape = TileShape{.widths = {11}, .depth = 6};
  Simulate(MustCompile(kSheets, options),
           {.faults = ManyFaults(), .fault_span = absl::Seconds(3)}, 10);
}

// A table's indices are coordinates of space and one more.
TEST(Coefficients, OfTooManyIndicesAtSumsRunPointByPoint) {
  const std::string text = absl::StrReplaceAll(
      kSheets, {{"k(x)(2)(0)", "k(x)(t-x)(0)"},
                {"as k2", "as k2 where t >= x and t < x + 3 else 0"}});
  CompileOptions options = Options();
  const Job chunks = MustCompile(text, options);
  EXPECT_THAT(chunks.lowering, HasSubstr("chunks of 256 points"));
  options.chunk_points = 0;
  const Job points = MustCompile(text, options);
  EXPECT_THAT(points.lowering,
              HasSubstr("point by point: task step reads k at sums, which has "
                        "too many indices for that"));
  EXPECT_EQ(MustDigest(chunks, nullptr), MustDigest(points, nullptr));
}

TEST(Coefficients, ThatTilesLackRunPointByPoint) {
  const auto how = [](const std::string& from, const std::string& to) {
    const std::string text = absl::StrReplaceAll(kWave, {{from, to}});
    ExpectOneDigest(text, Options(), *Tiles().shape, nullptr);
    return MustCompile(text, Options()).lowering;
  };
  EXPECT_THAT(
      how("source(t-1) as s",
          "phase(x+t) as p where x + t <= T else 0\n    source(t-1) as s"),
      HasSubstr("point by point: task step reads phase, which is made of "
                "itself, not at a constant distance"));
  EXPECT_THAT(how("source(t-1) as s",
                  "source(70000*x+t) as far where x < 0 else 0\n"
                  "    source(t-1) as s"),
              HasSubstr("task step reads source in steps that are too large"));
  EXPECT_THAT(
      how("source(t-1) as s",
          "phase(t-9) as late where t > 8 else 0\n    source(t-1) as s"),
      HasSubstr("task step reads phase 9 steps ago, beyond 8"));
}

TEST(Coefficients, SurviveAllFaults) {
  Simulate(MustCompile(absl::StrCat(kWave, kBehind), Tiles()),
           {.faults = ManyFaults(), .fault_span = absl::Seconds(3)}, 10);
}

}  // namespace
}  // namespace dogged::dsl

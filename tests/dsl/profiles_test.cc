// Aim: a stencil that reads arrays of time alone, or of fewer dimensions than
// its own, runs in tiles, with the bits of its points.
// Method: random stencils with random such arrays, computed or from files, read
// at random places, against plain loops and in every way to run; a program with
// all of it in loops, and on simulated agents.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/dsl/compile_tools.h"
#include "tests/dsl/random_profiles.h"
#include "tests/dsl/random_stencil.h"
#include "tests/dsl/repeat_tools.h"

namespace dogged::dsl {
namespace {

using testing::HasSubstr;

TEST(Profiles, OfRandomStencilsAreTheirLoops) {
  const KernelCache cache;
  const auto [first, last] = SeedRange(48);
  for (int64_t seed = first; seed <= last; ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    RandomStencil stencil(rng.Stream("stencil"));
    const RandomProfiles profiles(stencil, rng.Stream("profiles"));
    stencil.addition = profiles.Addition();
    SCOPED_TRACE(absl::StrCat("DOGGED_TEST_SEEDS=", seed, ":", seed, "\n",
                              stencil.Text()));
    CompileOptions options = Options();
    options.inputs = profiles.inputs();
    ExpectItsLoops(stencil, options, ShapeFor(stencil, rng),
                   seed <= 3 ? cache.Source() : CompileSource());
    if (HasFailure()) return;
  }
}

// A wave in a sponge, driven at a point and along an edge; what drives it
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

TEST(Profiles, StayInTilesInEveryPlace) {
  const Job job = MustCompile(kWave, Tiles());
  EXPECT_THAT(job.lowering, HasSubstr("2 x 2 tiles of 10 x 13 points, 3 st"));
  ExpectOneDigest(kWave, Options(), *Tiles().shape, KernelCache().Source());
}

// What is wanted of them, or read behind the tiles, is made there once more.
TEST(Profiles, AreThereBehindTilesToo) {
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

TEST(Profiles, ReadInALoop) {
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
TEST(Profiles, ReadAtDistancesThatVary) {
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

TEST(Profiles, ReadAtSumsOfIndices) {
  const std::string text = Travelling();
  EXPECT_THAT(MustCompile(text, Tiles()).lowering,
              HasSubstr("2 x 2 tiles of 10 x 13 points, 3 st"));
  ExpectOneDigest(text, Options(), *Tiles().shape, KernelCache().Source());
  const std::string behind = absl::StrCat(text, kBehind, "result ring\n");
  EXPECT_THAT(MustCompile(behind, Tiles()).lowering, HasSubstr("3 steps deep"));
  ExpectOneDigest(behind, Options(), *Tiles().shape, nullptr);
}

TEST(Profiles, AtSumsSurviveAllFaults) {
  Simulate(MustCompile(Travelling(), Tiles()),
           {.faults = ManyFaults(), .fault_span = absl::Seconds(3)}, 10);
}

// One that is laid out in rows takes all that lies between two points of a
// tile: tiles are long where that is less.
TEST(Profiles, AtSumsAreReckonedWith) {
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
    return TilePlan::Decode(in).widths;
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
TEST(Profiles, OfOneIndexFollowWhatReadsThem) {
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

TEST(Profiles, ThatTilesLackRunPointByPoint) {
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
      HasSubstr("task step reads phase too many steps ago"));
}

TEST(Profiles, SurviveAllFaults) {
  Simulate(MustCompile(absl::StrCat(kWave, kBehind), Tiles()),
           {.faults = ManyFaults(), .fault_span = absl::Seconds(3)}, 10);
}

}  // namespace
}  // namespace dogged::dsl

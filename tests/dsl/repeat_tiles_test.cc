// Aim: a loop in tiles is the loop point by point: it ends where that ends,
// with its bits, and runs nothing of a round that does not come; a loop without
// tiles says why.
// Method: tiles of many shapes and random stencils that stop somewhere, against
// the points; simulated clusters, many seeds.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "tests/dsl/random_stencil.h"
#include "tests/dsl/repeat_tools.h"

namespace dogged::dsl {
namespace {

using testing::HasSubstr;

CompileOptions InTiles(std::vector<int64_t> widths, int64_t depth,
                       CompileOptions options = Options()) {
  options.shape = TileShape{.widths = std::move(widths), .depth = depth};
  return options;
}

Job InPoints(const std::string& text, CompileOptions options = Options()) {
  options.coalesce = false;
  return MustCompile(text, options);
}

TEST(RepeatTiles, AreThePoints) {
  const std::string text = absl::StrCat(
      kRelax, "reduce mass(t) = sum(u(x)(t)) for t = 0:T over x = 0:N-1\n",
      "reduce late(t) = min(u(x)(t-1)) for t = 8:T:8 over x = 3:N-2\n",
      "task twice creates v(x)(t) as n for x = 1:N-2  t = 1:T\n",
      "using u(x)(t) as a code\nn = 2*a\nend code end task\n",
      "result u(5:20)(T-1)\nresult v(7)(t) for t = 1:T\nresult u(:)(3)\n",
      "result mass(t) for t = 0:T\nresult late(t) for t = 8:T:8\n");
  const CompileOptions options =
      WithParameters({{"N", "41"}, {"bound", "0.012"}});
  const Ended expected = RunHere(InPoints(text, options), 1);
  EXPECT_GT(expected.time, 8);
  EXPECT_LT(expected.time, 60);
  CompileOptions fixed = options;
  fixed.parameters.emplace_back("T", absl::StrCat(expected.time));
  EXPECT_EQ(MustDigest(MustCompile(text, InTiles({9}, 3, fixed)), nullptr),
            expected.digest);
  for (const int64_t depth : {1, 2, 3, 4, 100}) {
    for (const int64_t width : {9, 14, 41}) {
      const Job job = MustCompile(text, InTiles({width}, depth, options));
      SCOPED_TRACE(job.lowering);
      // Rounds have four steps.
      const int64_t legal = depth == 3 ? 2 : std::min<int64_t>(depth, 4);
      EXPECT_THAT(job.lowering, HasSubstr(absl::StrCat(legal, " steps deep")));
      EXPECT_EQ(MustDigest(job, nullptr), expected.digest);
      for (const int workers : {1, 3}) {
        const Ended ended = RunHere(job, workers);
        EXPECT_EQ(ended.time, expected.time);
        EXPECT_EQ(ended.digest, expected.digest);
        EXPECT_EQ(ended.tasks, ProgramAt(job.program, ended.time).TaskCount());
      }
    }
  }
}

constexpr char kWave[] = R"(
param N = 20
repeat T = 2:9:1 until top(T) > 0.61
boundary u(0)(t) = 1
boundary u(N)(t) = 0
boundary u(x)(0) = 0 where x > 0 and x < N
boundary u(x)(1) = 0.1 where x > 0 and x < N
task wave
  creates u(x)(t) as n
  for  x = 1:N-1  t = 2:T
  using  u(x-1)(t-1) as w  u(x+1)(t-1) as e  u(x)(t-2) as c
  code
    n = 0.5*(w + e) - 0.1*c
  end code
end task
reduce top(t) = max(u(x)(t)) for t = 2:T over x = 1:N-1
result u(1:N-1)(T)
)";

// Blocks of one time step hand on two. Results at the first time steps are in
// blocks, too, all of which the start task makes.
TEST(RepeatTiles, LookBackFurtherThanARoundIsLong) {
  for (const char* more :
       {"", "result u(x)(t) for x = 2:7 t = 0:T\n",
        "reduce all(t) = sum(u(x)(t)) for t = 0:T over x = 0:N\n"
        "result all(t) for t = 0:T\n"}) {
    const std::string text = absl::StrCat(kWave, more);
    const Ended expected = RunHere(InPoints(text), 1);
    EXPECT_GT(expected.time, 2);
    EXPECT_LT(expected.time, 9);
    for (const int64_t width : {9, 21}) {
      const Job job = MustCompile(text, InTiles({width}, 4));
      EXPECT_THAT(job.lowering, HasSubstr("1 steps deep"));
      const Ended ended = RunHere(job, 2);
      EXPECT_EQ(ended.time, expected.time);
      EXPECT_EQ(ended.digest, expected.digest);
    }
  }
}

// Conditions of single labels, numbers made of them, and reductions.
TEST(RepeatTiles, EndByPointsOfSpace) {
  const std::string probe =
      "task probe creates p(t) as n for t = 4:T:4\n"
      "using u(1)(t) as a u(4)(t-1) as b where t > 4 else 0.5 u(2)(0) as c\n"
      "code\nn = a - b - c\nend code end task\n"
      "result p(t) for t = 4:T:4\n";
  for (const auto& [condition, more] :
       std::vector<std::pair<std::string, std::string>>{
           {"u(3)(T) > 0.5", ""},
           {"u(4)(T-1) - u(3)(T) > -0.15 and change(T) < 0.04", ""},
           {"u(3)(T) > u(2)(4)", ""},
           {"p(T) > 0.3", probe},
           {"change(T) < 0.05*p(T) and u(2)(T-2) > 0.6", probe}}) {
    std::string text = kRelax;
    text.replace(text.find("change(T) < bound"), 17, condition);
    text += more;
    SCOPED_TRACE(text);
    const Ended expected = RunHere(InPoints(text), 1);
    EXPECT_GT(expected.time, 4);
    EXPECT_LT(expected.time, 60);
    for (const int64_t depth : {1, 4}) {
      const Job job = MustCompile(text, InTiles({9}, depth));
      EXPECT_THAT(job.lowering, HasSubstr("steps deep"));
      const Ended ended = RunHere(job, 2);
      EXPECT_EQ(ended.time, expected.time);
      EXPECT_EQ(ended.digest, expected.digest);
      EXPECT_EQ(ended.tasks, ProgramAt(job.program, ended.time).TaskCount());
    }
  }
}

// Arrays made of single points need no loop to stand behind tiles.
TEST(RepeatTiles, AndWithoutALoop) {
  const std::string text = absl::StrCat(
      kRelax, "task pair creates p(t) as n for t = 1:T\n",
      "using u(3)(t) as a u(7)(t-1) as b where t > 1 else 0 u(4)(12) as c\n",
      "code\nn = 2*a - b + c\nend code end task\nresult p(:)\n");
  const CompileOptions options = WithParameters({{"T", "12"}});
  EXPECT_THAT(MustCompile(text, options).lowering, HasSubstr("steps deep"));
  ExpectOneDigest(text, options, {.widths = {9}, .depth = 3}, nullptr);
}

// A random stencil, and when to stop; `rng` also says what more is wanted.
std::string RandomLoop(const RandomStencil& stencil, Rng& rng) {
  const int64_t first = stencil.order - 1 + rng.Below(5);
  const int64_t step = 1 + rng.Below(8);
  const int64_t last = first + step * rng.Below(6);
  const std::string all = stencil.Ranges();
  const std::string over = absl::StrCat("  over", all.substr(5));
  const std::string at = absl::StrCat("f0", stencil.Indices({}));
  const std::string rounds = absl::StrCat("t = ", first, ":T:", step);
  std::string point = "f0";
  for (const int64_t extent : stencil.extents) {
    absl::StrAppend(&point, "(", rng.Below(extent), ")");
  }
  const std::string by = rng.Chance(0.5) ? "probe" : point;
  std::string out = absl::StrCat(
      "repeat T = ", first, ":", last, ":", step, " until fmod(abs(", by,
      "(T))*977.0, 1.0) > 0.8\n", stencil.Text("T"), "reduce probe(t) = norm2(",
      at, "(t))\n  for ", rounds, "\n", over, "result probe(t) for ", rounds,
      "\n");
  if (rng.Chance(0.3)) {
    const std::string some = absl::StrCat("t = 0:T:", 1 + rng.Below(5), "\n");
    absl::StrAppend(&out, "reduce each(t) = max(", at, "(t))\n  for ", some,
                    over, "result each(t) for ", some);
  }
  if (rng.Chance(0.3)) {
    absl::StrAppend(&out, "result ", at, "(t)\n", all,
                    "    t = 0:T:", 1 + rng.Below(5), "\n");
  } else if (rng.Chance(0.3)) {
    std::string few = all;
    const size_t end = few.find('\n', few.find("x0"));
    few.insert(end, absl::StrCat(":", 1 + rng.Below(9)));
    absl::StrAppend(&out, "result ", at, "(T)\n", few);
  } else if (first > 0 && rng.Chance(0.3)) {
    absl::StrAppend(&out, "result ", at, "(T-1)\n", all);
  }
  return out;
}

TEST(RepeatTiles, OfRandomLoopsAreTheirPoints) {
  const auto [first, last] = SeedRange(24);
  for (int64_t seed = first; seed <= last; ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    const RandomStencil stencil(rng.Stream("stencil"));
    const std::string text = RandomLoop(stencil, rng);
    SCOPED_TRACE(
        absl::StrCat("DOGGED_TEST_SEEDS=", seed, ":", seed, "\n", text));
    const Ended expected = RunHere(InPoints(text), 1);
    std::vector<int64_t> widths;
    for (size_t d = 0; d < stencil.extents.size(); ++d) {
      widths.push_back(1 + rng.Below(30));
    }
    const Job job = MustCompile(text, InTiles(widths, 1 + rng.Below(8)));
    EXPECT_THAT(job.lowering, testing::AnyOf(HasSubstr("deep"),
                                             HasSubstr("no steps in time")));
    const Ended ended = RunHere(job, 2);
    EXPECT_EQ(ended.time, expected.time) << job.lowering;
    EXPECT_EQ(ended.digest, expected.digest) << job.lowering;
    const CompileOptions fixed =
        WithParameters({{"T", absl::StrCat(expected.time)}});
    EXPECT_EQ(MustRun(text, fixed).digest.ToString(), expected.digest);
    if (HasFailure()) return;
  }
}

// With the number of its last round a result may cover another one.
TEST(RepeatTiles, HaveAsManyResultsWithoutALoop) {
  const std::string text = std::string(kRelax) + "result u(5)(4)\n";
  CompileOptions options = WithParameters({{"bound", "0.9"}});
  const Ended ended = RunHere(MustCompile(text, options), 1);
  EXPECT_EQ(ended.time, 4);
  options.parameters.emplace_back("T", "4");
  EXPECT_EQ(MustRun(text, options).digest.ToString(), ended.digest);
}

TEST(RepeatTiles, ThatCannotBeSayWhy) {
  const auto how = [](std::string text, const std::string& from,
                      const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    const Job job = MustCompile(text, Options());
    EXPECT_EQ(RunHere(job, 1).digest, RunHere(InPoints(text), 1).digest);
    return job.lowering;
  };
  EXPECT_THAT(how(kRelax, "result u(:)(T)", "result u(:)(t) for t = 0:T-1"),
              HasSubstr("point by point: what is wanted of u does not follow "
                        "the rounds"));
  EXPECT_THAT(how(kWave, "T = 2:9:1 until top(T) > 0.61",
                  "T = 0:8:4 until u(5)(T) > 0.1"),
              HasSubstr("point by point: its tasks look back 2 steps, and its "
                        "loop may end before T = 1"));
  const std::string weighed =
      absl::StrCat(kRelax, "reduce weight = sum(u(x)(0)) over x = 0:N-1\n");
  EXPECT_THAT(how(weighed, "(t-1) as west", "(t-1) as west  weight as w"),
              HasSubstr("point by point: task relax reads weight, which is "
                        "made of what all tiles hold"));
  const std::string last =
      absl::StrCat(kRelax, "task last creates v(x)(t) as n for x = 1:N-2 ",
                   "t = 4:T:4\nusing u(x)(t) as a change(t) as c\n",
                   "code\nn = a/c\nend code end task\nresult v(:)(T)\n");
  EXPECT_THAT(how(last, "", ""),
              HasSubstr("point by point: task last, which can't be part of a "
                        "tile, reads u at more than one point of space"));
  EXPECT_THAT(how(last, "u(x)(t) as a", "u(x)(4) as a"),
              HasSubstr("reads u at more than one point of space"));
}

// Halos and cores go from agent to agent, two blocks a round.
TEST(RepeatTiles, SurviveAllFaults) {
  const Job job = MustCompile(
      kRelax,
      InTiles({10}, 2, WithParameters({{"N", "60"}, {"bound", "0.02"}})));
  EXPECT_THAT(job.lowering, HasSubstr("6 tiles of 10 points, 2 steps deep"));
  Simulate(job, {.faults = ManyFaults(), .fault_span = absl::Seconds(3)}, 30);
}

// A condition that one tile gives, and blocks shorter than what they hand on.
TEST(RepeatTiles, OfAPointSurviveAllFaults) {
  std::string text = kWave;
  text.replace(text.find("T = 2:9:1 until top(T) > 0.61"), 29,
               "T = 2:14:1 until u(5)(T) > 0.104");
  const Job job = MustCompile(text, InTiles({9}, 1));
  EXPECT_THAT(job.lowering, HasSubstr("2 tiles of 11 points, 1 steps deep"));
  Simulate(job, {.faults = ManyFaults(), .fault_span = absl::Seconds(3)}, 30);
}

TEST(RepeatTiles, AreFoundBySearchAlone) {
  SimOptions options{.agents = 4};
  options.job.search_only = true;
  options.faults = {.crash = 1, .join = 1};
  options.fault_span = absl::Seconds(2);
  Simulate(MustCompile(kRelax, InTiles({10}, 2, WithParameters({{"N", "30"}}))),
           options, 5);
}

}  // namespace
}  // namespace dogged::dsl

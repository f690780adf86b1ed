// Aim: numbers that are made of all of an array, and arrays that are made of
// such numbers, are there before the tiles that read them, if nothing of them
// has time; and programs that read them have the bits of their points.
// Method: programs of one dimension in every way to run, in loops, and on
// simulated agents. Random ones are in coefficients_test.cc.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/dsl/compile_tools.h"
#include "tests/dsl/repeat_tools.h"

namespace dogged::dsl {
namespace {

using testing::HasSubstr;

// Arrays without time come first, and arrays made of all of them.
constexpr char kScalarInputs[] = R"(
param N = 40
param T = 20
input k(x) for x = 0:N else 1 + x % 3
reduce total = sum(k(x)) over x = 0:N
task share
  creates part(j) as n
  for j = 0:1
  using total as all
  code
    n = j - 1/all
  end code
end task
task invert
  creates scale as n
  using total as all
  code
    n = 1/all
  end code
end task
task start
  creates u(x)(0) as n
  for x = 0:N
  using scale as s
  code
    n = s*x
  end code
end task
task step
  creates u(x)(t) as n
  for x = 0:N  t = 1:T
  using
    u(x-1)(t-1) as west where x > 0 else 0
    u(x+1)(t-1) as east where x < N else 0
    k(x)    as c
    total   as all
    scale   as s
    part(0) as first
    part(1) as last
  code
    n = c*(west + east)*s + 0.001*all + first*last
  end code
end task
reduce heat(t) = norm2(u(x)(t)) for t = 5:T:5 over x = 0:N
result u(:)(T)
result heat(T)
result total
)";

CompileOptions ScalarInputTiles() {
  CompileOptions options = Options();
  options.shape = TileShape{.widths = {12}, .depth = 5};
  return options;
}

TEST(ScalarInputs, OfWhatHasNoTime) {
  EXPECT_THAT(MustCompile(kScalarInputs, ScalarInputTiles()).lowering,
              HasSubstr("3 tiles of 14 points, 5 steps deep"));
  ExpectOneDigest(kScalarInputs, Options(), *ScalarInputTiles().shape,
                  KernelCache().Source());
}

TEST(ScalarInputs, InALoop) {
  const std::string text = absl::StrReplaceAll(
      kScalarInputs,
      {{"param T = 20", "repeat T = 5:50:5 until heat(T) > 0.56"}});
  const Job job = MustCompile(text, ScalarInputTiles());
  EXPECT_THAT(job.lowering, HasSubstr("5 steps deep"));
  CompileOptions points = Options();
  points.coalesce = false;
  const Ended expected = RunHere(MustCompile(text, points), 1);
  const Ended ended = RunHere(job, 2);
  EXPECT_EQ(ended.time, expected.time);
  EXPECT_EQ(ended.digest, expected.digest);
}

TEST(ScalarInputs, SurviveAllFaults) {
  Simulate(MustCompile(kScalarInputs, ScalarInputTiles()),
           {.faults = ManyFaults(), .fault_span = absl::Seconds(3)}, 10);
}

TEST(ScalarInputs, AreNumbers) {
  const std::string text = absl::StrReplaceAll(
      absl::StrCat(kScalarInputs,
                   "reduce few(j) = max(part(i)) for j = 0:N over i = 0:1\n"),
      {{"scale   as s", "few(x) as s"}});
  EXPECT_THAT(MustCompile(text, ScalarInputTiles()).lowering,
              HasSubstr("point by point: task step reads few, which is made "
                        "of what all tiles hold, not at a number"));
  ExpectOneDigest(text, Options(), *ScalarInputTiles().shape, nullptr);
}

// Arrays of numbers that are made of arrays, and so on; as windows with halos,
// as tables, and read behind the tiles.
std::string Stages() {
  constexpr char kMore[] = R"(
task weigh
  creates weight(x) as n
  for x = 0:N
  using
    k(x)  as c
    total as all
    scale as s
  code
    n = c/all + s
  end code
end task
reduce spread = norm2(weight(x)) over x = 0:N
task sharpen
  creates sharp(x) as n
  for x = 0:N
  using
    weight(x-1) as a where x > 0 else 0
    weight(x)   as b
    spread      as all
  code
    n = (b - 0.5*a)/all
  end code
end task
task lay
  creates way(i) as n
  for i = 0:N+T
  using
    spread as all
    part(1) as p
  code
    n = all*i + p
  end code
end task
result weight(:)
result spread
)";
  return absl::StrReplaceAll(
      absl::StrCat(kScalarInputs, kMore),
      {{"k(x)    as c", "sharp(x) as c\n    weight(x) as b\n    way(x+t) as w"},
       {"n = c*(west + east)*s", "n = b*w + c*(west + east)*s"}});
}

TEST(ScalarInputs, ArraysOfThemAreMadeInStages) {
  const Job job = MustCompile(Stages(), ScalarInputTiles());
  EXPECT_THAT(job.lowering, HasSubstr("3 tiles of 14 points, 5 steps deep"));
  std::vector<std::string> stages;
  for (const TaskClass& c : job.program.classes) {
    if (absl::StartsWith(c.name, "static")) stages.push_back(c.name);
  }
  EXPECT_THAT(stages, testing::ElementsAre("static", "static1", "static2"));
  ExpectOneDigest(Stages(), Options(), *ScalarInputTiles().shape,
                  KernelCache().Source());
}

TEST(ScalarInputs, StagesSurviveAllFaults) {
  Simulate(MustCompile(Stages(), ScalarInputTiles()),
           {.faults = ManyFaults(), .fault_span = absl::Seconds(3)}, 10);
}

// An array that is made of itself along space is made behind the tiles, where
// all else stays in them.
TEST(ScalarInputs, OfWhatIsMadeOfItself) {
  const std::string text = absl::StrReplaceAll(absl::StrCat(kScalarInputs, R"(
boundary grow(-1) = 0.5
task add
  creates grow(i) as n
  for i = 0:2*N
  using grow(i-1) as before
  code
    n = 0.5*before + i
  end code
end task
reduce high = max(grow(i)) over i = 0:9
result grow(:)
)"),
                                               {{"scale   as s", "high as s"}});
  EXPECT_THAT(MustCompile(text, ScalarInputTiles()).lowering,
              HasSubstr("3 tiles of 14 points, 5 steps deep"));
  ExpectOneDigest(text, Options(), *ScalarInputTiles().shape, nullptr);
}

// Parts of arrays without time that tiles don't give are made behind them once
// more: rows of them, parts that are no box, and parts that vary along space.
TEST(ScalarInputs, PartsOfSpaceAreMadeBehindTiles) {
  const std::string text = R"(
param N = 30
param M = 20
param T = 12
input raw(i)(j) for i = 0:N  j = 0:M else (3*i + 5*j) % 7
task lift
  creates w(i)(j) as n
  for i = 0:N  j = 0:M
  using raw(i)(j) as r
  code
    n = 0.5 + r
  end code
end task
reduce row(i) = sum(w(i)(j)) for i = 0:N over j = 0:M
reduce low(j) = min(w(i)(j)) for j = 2:M over i = 0:j
task join
  creates both as n
  using
    row(3) as a
    low(4) as b
  code
    n = 0.001*(a + b)
  end code
end task
boundary u(x)(y)(0) = 1
task step
  creates u(x)(y)(t) as n
  for x = 0:N  y = 0:M  t = 1:T
  using
    u(x)(y)(t-1)   as c
    u(x-1)(y)(t-1) as west where x > 0 else 0
    w(x)(y)        as k
    row(3)         as a
    both           as b
  code
    n = c + 0.001*k*west + b - 0.0001*a
  end code
end task
reduce mean(t) = sum(u(x)(y)(t)) for t = 4:T:4 over x = 0:N  y = 0:M
task scale
  creates scaled(x) as n
  for x = 1:N
  using
    w(x)(7)  as k
    row(N-x) as a
    mean(T)  as m
  code
    n = (k + a)/m
  end code
end task
result u(:)(:)(T)
result scaled
result low
)";
  CompileOptions options = Options();
  options.shape = TileShape{.widths = {11, 21}, .depth = 4};
  EXPECT_THAT(MustCompile(text, options).lowering,
              HasSubstr("3 x 1 tiles of 11 x 21 points, 4 steps deep"));
  ExpectOneDigest(text, Options(), *options.shape, KernelCache().Source());
  Simulate(MustCompile(text, options),
           {.faults = ManyFaults(), .fault_span = absl::Seconds(3)}, 5);
}

// A late number that a copied task reads is made once.
TEST(ScalarInputs, WhatStandsBehindIsThereOnce) {
  const std::string text = absl::StrCat(Stages(), "result way(:)\n");
  const Job job = MustCompile(text, ScalarInputTiles());
  EXPECT_THAT(job.lowering, HasSubstr("3 tiles of 14 points, 5 steps deep"));
  std::vector<std::string> names;
  for (const TaskClass& c : job.program.classes) {
    if (c.name == "share" || c.name == "lay") names.push_back(c.name);
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("share", "lay"));
  ExpectOneDigest(text, Options(), *ScalarInputTiles().shape, nullptr);
}

// Array by array it goes round, though no label waits for itself.
TEST(ScalarInputs, StagesEnd) {
  const std::string text = R"(
param N = 40
param T = 20
input k(x) for x = 0:9 else x
reduce total = sum(k(x)) over x = 0:9
task more
  creates k(x) as n
  for x = 10:N
  using total as all
  code
    n = all
  end code
end task
boundary u(x)(0) = x
task step
  creates u(x)(t) as n
  for x = 0:N  t = 1:T
  using
    u(x)(t-1) as c
    k(x)      as m
  code
    n = 0.5*c + m
  end code
end task
result u(:)(T)
)";
  EXPECT_THAT(MustCompile(text, ScalarInputTiles()).lowering,
              HasSubstr("point by point: some array is made of what all tiles "
                        "hold of itself"));
  ExpectOneDigest(text, Options(), *ScalarInputTiles().shape, nullptr);
}

// Tiles of c have all of its points, and read b, though no result needs what
// tasks make of it.
TEST(ScalarInputs, WhatOnlyPointsThatNobodyNeedsReadIsMadeForTheirTiles) {
  const std::string text = R"(
task fill
  creates a(i)(j) as n
  for i = 0:4  j = 0:9
  code
    n = i*j
  end code
end task
reduce b = max(a(i)(j)) over i = 1:3  j = 1:8
boundary c(i)(j)(k) = -1
task add
  creates c(i)(j)(k+1) as n
  for i = 0:3  j = 0:9  k = 0:4
  using
    c(i)(j)(k) as o
    a(i)(k)    as x
    b          as y
  code
    n = o + x*y
  end code
end task
result c(5)(9)(0)
)";
  ExpectOneDigest(text, Options(), {.widths = {4, 4}, .depth = 2}, nullptr);
}

}  // namespace
}  // namespace dogged::dsl

// Aim: `param N from A` is the number with which the program wants the file
// that it is given; what has no such number, or several, is an error with the
// places. Method: programs of one and two inputs, in points and in tiles, with
// files that fit, that don't, and none.
#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/dsl/compile_tools.h"

namespace dogged::dsl {
namespace {

using Shapes = std::map<std::string, Shape>;

// A copy of v, of `size` elements, and of the other inputs nothing.
std::string CopyOf(const std::string& parameters, const std::string& inputs) {
  return absl::StrCat(parameters, inputs, R"(
task t
  creates u(x) as n
  for x = 0:0
  using v(x) as a
  code
    n = a
  end code
end task
result u
)");
}

// "N=5 M=3" of the job, or the errors.
std::string Taken(const std::string& text, const Shapes& shapes,
                  const ParameterValues& given = {}) {
  CompileOptions options = Options();
  options.parameters = given;
  for (const auto& [array, shape] : shapes) {
    options.inputs[array] = Value::Allocate(ElementType::kDouble, shape);
  }
  Diagnostics diagnostics("", "");
  const auto job = Compile(text, options, KernelRegistry(), diagnostics);
  if (diagnostics.HasErrors()) return diagnostics.ToString();
  if (!job.ok()) return std::string(job.status().message());
  std::string out;
  for (const auto& [name, value] : job->parameters) {
    absl::StrAppend(&out, out.empty() ? "" : " ", name, "=", value);
  }
  return out;
}

void ExpectHas(const std::string& got, const std::string& words) {
  EXPECT_TRUE(absl::StrContains(got, words)) << got << "\nlacks  " << words;
}

constexpr char kTiles[] = R"(param N  from A, B = 10
param M  from B    = 1
param NB = N < 100 ? 4 : 32
param NT = (N + NB - 1)/NB
array A(i = 0:NT-1)(j = 0:NT-1) : double[min(NB, N-i*NB), min(NB, N-j*NB)]
array B(i = 0:NT-1)(j = 0:0) : double[min(NB, N-i*NB), M]
input A(i)(j) for i = 0:NT-1  j = 0:NT-1
input B(i)(j) for i = 0:NT-1  j = 0:0
result A(0)(0)
result B(0)(0)
)";

TEST(TakenParameters, TilesOfWhateverNumberAreAsLongAsTheFile) {
  for (const int64_t n : {1, 2, 3, 4, 5, 99, 100, 101, 777}) {
    EXPECT_EQ(Taken(kTiles, {{"A", {n, n}}, {"B", {n, 3}}}),
              absl::StrCat("N=", n, " M=3"));
  }
  EXPECT_EQ(Taken(kTiles, {{"A", {9, 9}}, {"B", {9, 3}}}, {{"NB", "3"}}),
            "NB=3 N=9 M=3");
}

TEST(TakenParameters, AJobIsThatOfTheGivenNumber) {
  const auto encoded = [](const ParameterValues& given) {
    CompileOptions options = Options();
    options.parameters = given;
    Value v = Value::Allocate(ElementType::kDouble, {7});
    for (double& one : v.mutable_span<double>()) one = 3;
    options.inputs["v"] = std::move(v);
    return MustCompile(
               CopyOf("param N from v = 5", "\ninput v(x) for x = 0:N-1"),
               options)
        .Encode();
  };
  EXPECT_TRUE(encoded({}) == encoded({{"N", "7"}}));
}

TEST(TakenParameters, AnExtentMayGrowBySeveralAStepOrShrink) {
  const std::string odd =
      CopyOf("param N from v", "\ninput v(x) for x = 0:2*N");
  EXPECT_EQ(Taken(odd, {{"v", {11}}}), "N=5");
  const std::string shrinks =
      CopyOf("param N from v", "\ninput v(x) for x = 0:20-N");
  EXPECT_EQ(Taken(shrinks, {{"v", {11}}}), "N=10");
  const std::string got = Taken(odd, {{"v", {12}}});
  ExpectHas(
      got,
      "test.dog:1:7: error[D008]: no single N follows from dimension 1 of "
      "input v (line 2), whose file has shape (12)");
  ExpectHas(got,
            "the program wants 11 there with N = 5, 13 there with N = 6; "
            "give it a value:  -D N=...");
}

TEST(TakenParameters, ANumberThatIsFoundLeavesAnotherAloneInAnExtent) {
  const std::string text =
      CopyOf("param K from w, v\nparam N from w",
             "\ninput v(x) for x = 0:K-1 else 0\ninput w(x) for x = 0:N+K");
  EXPECT_EQ(Taken(text, {{"v", {4}}, {"w", {15}}}), "K=4 N=10");
  ExpectHas(Taken(text, {{"w", {15}}}),
            "K does not follow from the shape of input w (line 4), whose file "
            "has shape (15)");
  EXPECT_EQ(Taken(text, {{"v", {4}}, {"w", {15}}}, {{"N", "10"}}), "N=10 K=4");
}

TEST(TakenParameters, FilesThatDifferAreAnErrorWithBothPlaces) {
  const std::string two = Taken(kTiles, {{"A", {6, 6}}, {"B", {5, 1}}});
  ExpectHas(two,
            "test.dog:1:7: error[D008]: N is 6 by dimension 1 of input A "
            "(line 7), whose file has shape (6)(6), and 5 by dimension 1 "
            "of input B (line 8), whose file has shape (5)(1)");
  ExpectHas(Taken(kTiles, {{"A", {6, 5}}, {"B", {6, 1}}}),
            "N is 6 by dimension 1 of input A (line 7), whose file has shape "
            "(6)(5), and 5 by dimension 2 of it");
}

TEST(TakenParameters, AGivenNumberCountsAndTheFileIsRefused) {
  EXPECT_EQ(Taken(kTiles, {{"A", {6, 6}}, {"B", {6, 1}}}, {{"N", "8"}}),
            "input A: has shape (6)(6), the program wants (8)(8); it does with "
            " -D N=6");
}

TEST(TakenParameters, AFileOfAnotherInputIsNoReasonForAnotherNumber) {
  const std::string text = CopyOf(
      "param N from v", "\ninput v(x) for x = 0:N-1\ninput w(x) for x = 0:N-1");
  EXPECT_EQ(Taken(text, {{"v", {4}}, {"w", {5}}}),
            "input w: has shape (5), the program wants (4)");
}

TEST(TakenParameters, WithoutAFileThereIsTheDefaultOrNone) {
  const std::string inputs = "\ninput v(x) for x = 0:N-1 else x";
  EXPECT_EQ(Taken(CopyOf("param N from v = 5", inputs), {}), "");
  const std::string got = Taken(CopyOf("param N from v", inputs), {});
  ExpectHas(got, "error[D008]: parameter N has no value");
  ExpectHas(got, "-D N=...  or the file that has it:  --input v=v.npy");
}

// Sizes that are yet to come are no reason to let a mistyped name pass.
TEST(TakenParameters, WhatNoParameterTakesIsRefusedBeforeSizesAreKnown) {
  const std::string text =
      CopyOf("param N from v\nparam steps = 3", "\ninput v(x) for x = 0:N-1");
  const auto awaiting = [&text](const ParameterValues& given) {
    CompileOptions options = Options();
    options.parameters = given;
    options.may_lack_inputs = true;
    Diagnostics diagnostics("", "");
    ProgramFacts facts;
    const auto job =
        Compile(text, options, KernelRegistry(), diagnostics, nullptr, &facts);
    EXPECT_FALSE(job.ok());
    EXPECT_EQ(facts.awaited.empty(), diagnostics.HasErrors());
    return diagnostics.HasErrors() ? diagnostics.ToString()
                                   : std::string(job.status().message());
  };
  EXPECT_EQ(awaiting({{"steps", "5"}}),
            "test.dog takes N from the shape of v: give it,  --input "
            "v=FILE.npy,  or  -D N=NUMBER");
  ExpectHas(awaiting({{"step", "5"}}),
            "error[D008]: -D step=5: there is no parameter step; did you mean "
            "steps?");
  ExpectHas(awaiting({{"X", "3"}}), "there is no parameter X");
  ExpectHas(awaiting({{"steps", "2.5"}}), "-D steps=2.5: steps is an integer");
}

TEST(TakenParameters, ExtentsThatSayNothingAreAnError) {
  ExpectHas(Taken(CopyOf("param N from v = 5", "\ninput v(x) for x = 0:6"),
                  {{"v", {7}}}),
            "N does not follow from the shape of input v (line 2)");
  // Whole tiles: N = 8 to 11 would do.
  ExpectHas(
      Taken(CopyOf("param N from v = 5", "\ninput v(x) for x = 0:N/4*4-1"),
            {{"v", {8}}}),
      "N does not follow from the shape");
  ExpectHas(Taken(CopyOf("param N from v = 5", "\ninput v(x) for x = 0:N*N-1"),
                  {{"v", {9}}}),
            "no single N follows from dimension 1 of input v");
  // N = 6 would do as well as 7.
  ExpectHas(Taken(CopyOf("param N from v = 5\nparam K = N < 7 ? 7 : N",
                         "\ninput v(x) for x = 0:K-1"),
                  {{"v", {7}}}),
            "no single N follows from dimension 1 of input v (line 3)");
  // A file of other dimensions is refused as ever, unless there is no default.
  ExpectHas(Taken(CopyOf("param N from v = 5", "\ninput v(x) for x = 0:N-1"),
                  {{"v", {3, 3}}}),
            "input v: has shape (3)(3), the program wants (5)");
  ExpectHas(Taken(CopyOf("param N from v", "\ninput v(x) for x = 0:N-1"),
                  {{"v", {3, 3}}}),
            "N does not follow from the shape of input v (line 2), whose file "
            "has shape (3)(3)");
  ExpectHas(Taken(CopyOf("param N from v", "\ninput v(x) for x = 0:N-1"),
                  {{"v", {3, 3}}}),
            "help: the program wants 1 dimension of v");
}

TEST(TakenParameters, MistakesOfTheProgramAreToldAsThemselves) {
  const std::string inputs = "\ninput v(x) for x = 0:N-1";
  ExpectHas(Taken(CopyOf("param N from w = 5", inputs), {}),
            "test.dog:1:14: error[D006]: there is no input w");
  ExpectHas(
      Taken(CopyOf("param N = 5\nparam c : double from v = 0.5", inputs), {}),
      "parameter c is of type double");
  const std::string got = Taken(
      CopyOf("param N from v", "\ninput v(y) for x = 0:N-1"), {{"v", {3}}});
  ExpectHas(got, "error[D006]");
  EXPECT_FALSE(absl::StrContains(got, "has no value")) << got;
}

}  // namespace
}  // namespace dogged::dsl

// Aim: the memory of a run, as it is told before, is what a reader of the
// program would say. Method: small programs, numbers by hand.
#include "dsl/lower/footprint.h"

#include "gmock/gmock.h"
#include "tests/dsl/compile_tools.h"
#include "tests/dsl/nest/nest_tools.h"

namespace dogged::dsl {
namespace {

ProgramFacts FactsOf(const std::string& text, const CompileOptions& options,
                     const KernelRegistry& registry = {}) {
  Diagnostics diagnostics("", "");
  ProgramFacts out;
  const auto job = Compile(text, options, registry, diagnostics, nullptr, &out);
  EXPECT_TRUE(job.ok()) << job.status() << diagnostics.ToString();
  return out;
}

TEST(Footprint, AStencilHasTwoTimeStepsInUse) {
  CompileOptions options = Options();
  options.parameters = {{"N", "1001"}, {"T", "50"}};
  const std::string text = ReadApp("heat1d/heat1d.dog");
  for (const bool coalesce : {true, false}) {
    options.coalesce = coalesce;
    options.selections.clear();
    Footprint out = FactsOf(text, options).footprint;
    EXPECT_EQ(out.results, 8 * 1001);
    EXPECT_EQ(out.in_use, 2 * 8 * 1001);
    EXPECT_EQ(out.inputs, 0);
    EXPECT_EQ(out.unknown, "");
    // Labels of points take more than their numbers do.
    // A point reads three labels: the first begins its task, two are looked up.
    EXPECT_EQ(out.beside, coalesce ? 0 : (440 + 160 + 200) * 1001);
    EXPECT_EQ(out.beside_on_agents,
              coalesce ? 0 : 1700 * 1001 + 200 * 51 * 1001);
    // Half of another time step; labels that are wanted twice are there once.
    options.selections = {"phi(0:499)(20)", "phi(10:20)(50)", "phi(:)(50)"};
    out = FactsOf(text, options).footprint;
    EXPECT_EQ(out.results, 8 * (1001 + 500));
  }
}

TEST(Footprint, BlocksCountWhole) {
  const std::string text = R"(
param T = 5
array a(i = 0:3)(j = 0:i)(t = 0:T) : double [10, i+2]
kernel make(out n)
kernel twice(in p, out n)
task start
  creates a(i)(j)(0) as n
  for i = 0:3  j = 0:i
  call make(n)
end task
task step
  creates a(i)(j)(t) as n
  for i = 0:3  j = 0:i  t = 1:T
  using a(i)(j)(t-1) as p
  call twice(p, n)
end task
result a(i)(j)(T) for i = 0:3  j = 0:i
)";
  KernelRegistry registry;
  registry.Add({.name = "make", .out_count = 1});
  registry.Add({.name = "twice", .in_count = 1, .out_count = 1});
  const Footprint out = FactsOf(text, Options(), registry).footprint;
  // Ten blocks, each as large as the first one.
  EXPECT_EQ(out.results, 10 * 8 * 20);
  EXPECT_EQ(out.in_use, 2 * 10 * 8 * 20);
}

TEST(Footprint, OfARunByPointsStaticValuesAreNotInIt) {
  const std::string text = R"(
param N = 9
input a(i) for i = 0:N
input f(i) for i = 0:N else 0.5*i
task both
  creates u(i)(j) as n
  for i = 0:N  j = 0:N
  using a(i) as x  f(j) as y
  code n = x + y end code
end task
result u
)";
  CompileOptions options = Options();
  options.may_lack_inputs = true;
  options.coalesce = false;
  const Footprint out = FactsOf(text, options).footprint;
  EXPECT_EQ(out.results, 8 * 100);
  EXPECT_EQ(out.in_use, 0);
  EXPECT_EQ(out.inputs, 8 * 10);
  EXPECT_EQ(out.beside, 440 * 100);
}

// A task waits in a record from its first input on: a chain of updates at one
// task at a time, however many read the pivot, and all that begin by an array
// that is made before their own.
TEST(Footprint, TasksThatWaitAreCounted) {
  const std::string text = R"(
param N = 9
boundary p(0)(i)(j) = i + j
task image
  creates x(i)(j) as n
  for i = 0:N  j = 0:N
  using x(i)(j-1) as a where j > 0 else 1
  code n = 0.5*a end code
end task
task step
  creates p(k+1)(i)(j) as n
  for k = 0:N  i = 0:N  j = 0:N
  using p(k)(i)(j) as a  p(k)(i)(k) as b
  code n = a + b end code
end task
task filter
  creates y(i)(j) as n
  for i = 0:N  j = 0:N
  using x(i)(j) as a  y(i)(j-1) as b where j > 0 else 0
  code n = a + b end code
end task
task sum
  creates z(t)(i) as n
  for t = 1:N  i = 0:N
  using z(t-1)(i) as a  z(t-1)(i-1) as b where i > 0 else 0
  code n = a + b end code
end task
boundary z(0)(i) = i
result p(N+1)(:)(:)
result y
result z(N)(:)
)";
  CompileOptions options = Options();
  options.coalesce = false;
  const Footprint out = FactsOf(text, options).footprint;
  // Results; labels of p, y and z, which are looked up; step, filter and sum.
  EXPECT_EQ(out.beside,
            440 * 210 + 160 * (100 + 10 + 10) + 200 * (100 + 100 + 10));
}

TEST(Footprint, OfAWavefrontTwoRowsAreInUse) {
  CompileOptions options = Options();
  options.parameters = {{"N", "50"}};
  const Footprint out =
      FactsOf(ReadApp("wavefront/wavefront.dog"), options).footprint;
  EXPECT_EQ(out.results, 8);
  EXPECT_EQ(out.in_use, 2 * 8 * 50);
  EXPECT_EQ(out.unknown, "");
}

// Red reads the step before, black what red made of this one.
TEST(Footprint, WhereTasksTakeTurnsTwoTimeStepsAreInUse) {
  const std::string text = R"(
param N = 32
param T = 9
boundary u(0)(t) = 1
boundary u(N-1)(t) = 0
boundary u(x)(0) = 0.5 where x > 0 and x < N-1
task red
  creates u(x)(t) as n
  for  x = 1:N-2  t = 1:T
  where x % 2 == 0
  using u(x-1)(t-1) as west  u(x+1)(t-1) as east
  code
    n = 0.5*(west + east)
  end code
end task
task black
  creates u(x)(t) as n
  for  x = 1:N-2  t = 1:T
  where x % 2 == 1
  using u(x-1)(t) as west  u(x+1)(t) as east
  code
    n = 0.5*(west + east)
  end code
end task
result u(x)(T) for x = 1:N-2
)";
  const Footprint out = FactsOf(text, Options()).footprint;
  EXPECT_EQ(out.results, 8 * 30);
  EXPECT_EQ(out.in_use, 2 * 8 * 32);
  EXPECT_EQ(out.unknown, "");
}

// Sweeps to and fro: q and u go along t together, though q by itself would go
// along j. Nothing holds p back, which goes along j: all of it is there while q
// goes along t. Of r, which goes along t as well, two steps are.
TEST(Footprint, WhatGoesAlongAnotherIndexIsThereWhole) {
  const std::string text = R"(
param N = 30
param T = 9
boundary p(i)(0)(t) = i + t
boundary q(i)(0)(t) = 1
boundary r(i)(j)(0) = j
boundary u(i)(N+1)(t) = 2
boundary u(i)(j)(0) = i where j <= N
task head
  creates p(i)(j)(t) as n
  for i = 1:N  j = 1:N  t = 1:T
  using p(i)(j-1)(t) as a
  code n = 1/(2 + a) end code
end task
task more
  creates r(i)(j)(t) as n
  for i = 1:N  j = 1:N  t = 1:T
  using r(i)(j)(t-1) as a
  code n = 0.5*a end code
end task
task forth
  creates q(i)(j)(t) as n
  for i = 1:N  j = 1:N  t = 1:T
  using p(i)(j-1)(t) as a  q(i)(j-1)(t) as b  u(j)(i)(t-1) as c  r(i)(j)(t) as d
  code n = a*b + c + d end code
end task
task back
  creates u(i)(j)(t) as n
  for i = 1:N  j = 1:N  t = 1:T
  using u(i)(j+1)(t) as a  q(i)(j)(t) as b
  code n = a - b end code
end task
result u(:)(:)(T)
)";
  const Footprint out = FactsOf(text, Options()).footprint;
  EXPECT_EQ(out.unknown, "");
  const int64_t square = 30 * 30;
  const int64_t edge = 30;
  EXPECT_EQ(out.results, 8 * (square + edge));
  EXPECT_EQ(out.in_use, 8 * (9 * square             // p
                             + 2 * (square + edge)  // q
                             + 2 * square           // r
                             + 2 * (square + edge)  // u
                             ));
}

TEST(Footprint, OfWhatIsMadeOfItselfAnyhowNothingIsKnown) {
  const std::string text = R"(
param N = 8
task first
  creates a(0)(y) as n
  for y = 0:N-1
  code
    n = y
  end code
end task
task others
  creates a(x)(y) as n
  for x = 1:N-1  y = 0:N-1
  using a(0)(x) as m
  code
    n = m
  end code
end task
result a(N-1)(:)
)";
  EXPECT_EQ(FactsOf(text, Options()).footprint.unknown, "a");
}

TEST(Footprint, OfANestFormulasThatAreSeldomReadAreNotInIt) {
  const std::string text = R"(
param N = 100000
input a(k) for k = 0:N-1 else 0.5*k
boundary s(0) = 0
task update
  creates s(k+1) as n
  for k = 0:N-1
  using s(k) as c  a(k) as x
  code
    n = c + x
  end code
end task
result s(N)
)";
  const Footprint out = FactsOf(text, NestOptions()).footprint;
  EXPECT_EQ(out.results, 8);
  EXPECT_LE(out.in_use, 64);
}

TEST(Footprint, WhatFollowsNoVersionsIsThereWhole) {
  const std::string text = R"(
param N = 8
task first
  creates a(x)(y) as n
  for x = 0:N-1  y = 0:N-1
  code
    n = x + y
  end code
end task
task second
  creates b(x)(y) as n
  for x = 0:N-1  y = 0:N-1
  using a(y)(x) as m
  code
    n = m
  end code
end task
result b(:)(:)
)";
  const Footprint out = FactsOf(text, Options()).footprint;
  EXPECT_EQ(out.results, 8 * 64);
  EXPECT_EQ(out.in_use, 8 * 64);
  EXPECT_EQ(out.unknown, "");
}

// Places of the tables of each use: in chunks 22 bytes each, by points 95. Each
// class of chunks has its own: of the steps with a boundary, and of the others.
TEST(Footprint, TablesCount) {
  const std::string text = R"(
param N = 1000
array p(i = 0:N-1)(k = 0:1) : int64
input p(i)(k) for i = 0:N-1  k = 0:1 else (7*i + k) % N
input u(i)(0) for i = 0:N-1 else i
task step
  creates u(i)(t) as n
  for i = 0:N-1  t = 1:3
  using u(p(i)(0))(t-1) as a  u(p(i)(1))(t-1) as b
  code n = a - b end code
end task
result u(:)(3)
)";
  CompileOptions options = Options();
  EXPECT_EQ(FactsOf(text, options).footprint.tables, 2 * 1000 * 22);
  options.coalesce = false;
  EXPECT_EQ(FactsOf(text, options).footprint.tables, 2 * 1000 * 95);
  options.coalesce = true;
  const std::string beside = "u(p(i)(0))(t-1) as a";
  std::string parts = text + "boundary u(N)(t) = 1 where t < 2\n";
  parts.replace(parts.find(beside), beside.size(),
                "u(i+1)(t-1) as a where t < 3 else 0");
  parts.replace(parts.find("u(:)(3)"), 7, "u(0:N-1)(3)");
  EXPECT_EQ(FactsOf(parts, options).footprint.tables, 2 * 1000 * 22);
}

TEST(Footprint, ALoopHasTheResultsOfItsLastRound) {
  CompileOptions options = Options();
  options.parameters = {{"N", "20"}};
  const Footprint out =
      FactsOf(ReadApp("jacobi/jacobi.dog"), options).footprint;
  EXPECT_GE(out.results, 8 * 18 * 18);
  EXPECT_LE(out.results, 8 * 22 * 22);
  EXPECT_GE(out.in_use, 2 * 8 * 18 * 18);
  EXPECT_LE(out.in_use, 4 * 8 * 22 * 22);
  EXPECT_EQ(out.unknown, "");
}

TEST(Footprint, InputsThatLackAreNamed) {
  const std::string text = R"(
param N = 9
input a(i) for i = 0:N-1
input b(i)(j) for i = 0:N-1  j = 0:2
input c(i) for i = 0:N-1 else 1
task t
  creates s(i) as n
  for i = 0:N-1
  using a(i) as x  b(i)(1) as y  c(i) as z
  code
    n = x + y + z
  end code
end task
result s(:)
)";
  CompileOptions options = Options();
  Diagnostics diagnostics("", "");
  EXPECT_FALSE(Compile(text, options, KernelRegistry(), diagnostics).ok());
  EXPECT_THAT(diagnostics.ToString(), testing::HasSubstr("--input a=FILE"));
  options.may_lack_inputs = true;
  for (const bool coalesce : {true, false}) {
    options.coalesce = coalesce;
    const ProgramFacts facts = FactsOf(text, options);
    ASSERT_EQ(facts.lacking.size(), 2u);
    EXPECT_EQ(facts.lacking[0].array, "a");
    EXPECT_EQ(facts.lacking[0].shape.ToString(), "(9)");
    EXPECT_EQ(facts.lacking[1].shape.ToString(), "(9)(3)");
    EXPECT_EQ(facts.footprint.inputs, 8 * (9 + 27));
  }
}

}  // namespace
}  // namespace dogged::dsl

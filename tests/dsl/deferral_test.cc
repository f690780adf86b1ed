// Aim: a loop whose last round leaves out tasks that only a next one would read
// runs forward on agents, runs no more of these than its steps need, wherever
// it ends, and has all that some end needs.
// Method: a descent with a direction that each step hands on; against the
// programs of -D T=...; simulated clusters.
#include "dsl/lower/deferral.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/graph/rounds.h"
#include "tests/dsl/compile_tools.h"
#include "tests/dsl/repeat_tools.h"

namespace dogged::dsl {
namespace {

// p(T) is for step T + 1, and so is w(T), of which it is made.
constexpr char kDescend[] = R"(
param N = 9
param bound : double = 0.01
repeat T = 4:60:4 until change(T) < bound

boundary u(x)(0) = 0.1*x
boundary p(x)(0) = 0.1*x
boundary p(x)(t) = 0 where (x == 0 or x == N) and t > 0

task step
  creates u(x)(t) as n
  for  x = 1:N-1  t = 1:T
  using
    u(x)(t-1)   as before
    p(x-1)(t-1) as west
    p(x+1)(t-1) as east
    size(t-1)   as s
  code
    n = 0.8*before - 0.05*(west + east)/(1 + s)
  end code
end task

task weigh
  creates w(x)(t) as n
  for  x = 1:N-1  t = 1:T
  using u(x)(t) as a
  code
    n = 0.5*a
  end code
end task

task turn
  creates p(x)(t) as n
  for  x = 1:N-1  t = 1:T
  using
    w(x)(t)   as a
    p(x)(t-1) as before
  code
    n = a + 0.25*before
  end code
end task

reduce size(t) = norm2(p(x)(t)) for t = 0:T over x = 1:N-1
reduce change(t) = normmax(u(x)(t)) for t = 4:T:4 over x = 1:N-1

result u(x)(T) for x = 1:N-1
)";

CompileOptions Points(
    std::vector<std::pair<std::string, std::string>> parameters) {
  CompileOptions options = WithParameters(std::move(parameters));
  options.coalesce = false;
  return options;
}

TEST(Deferral, EachEndHasWhatItNeedsAndNoMore) {
  for (const char* bound : {"0.5", "0.1", "0.01", "0"}) {
    SCOPED_TRACE(bound);
    const Job job = MustCompile(kDescend, Points({{"bound", bound}}));
    EXPECT_TRUE(job.program.every_task_needed);
    const Ended ended = RunHere(job, 2);
    const std::string end = absl::StrCat(ended.time);
    const Job fixed =
        MustCompile(absl::StrCat(kDescend, "result change(t) for t = 4:T:4\n"),
                    Points({{"T", end}}));
    ASSERT_TRUE(fixed.program.every_task_needed);
    EXPECT_EQ(ended.tasks, fixed.program.TaskCount() + ended.time / 4) << end;
    EXPECT_EQ(ended.tasks, ProgramAt(job.program, ended.time).TaskCount());
    EXPECT_EQ(ended.digest,
              MustDigest(MustCompile(kDescend, Points({{"T", end}})), nullptr));
  }
}

TEST(Deferral, RunsOnAgentsUnderAllFaults) {
  const Job job = MustCompile(kDescend, Points({}));
  Simulate(job, {.agents = 3}, 3);
  Simulate(job, {.faults = ManyFaults(), .fault_span = absl::Seconds(3)}, 20);
  SimOptions search{.agents = 3};
  search.job.search_only = true;
  Simulate(job, search, 3);
}

// All of it: no end needs any.
TEST(Deferral, LeavesOutWhatNobodyReads) {
  const std::string text = absl::StrCat(
      kDescend, "reduce unread(t) = max(w(x)(t)) for t = 1:T over x = 1:N-1\n");
  const Job job = MustCompile(text, Points({}));
  EXPECT_TRUE(job.program.every_task_needed);
  EXPECT_EQ(RunHere(job, 1).tasks,
            RunHere(MustCompile(kDescend, Points({})), 1).tasks);
}

// The last round needs v of T = 60 alone; one that ends before needs its own.
// Tasks that no end needs are left out.
TEST(Deferral, KeepsWhatAnEarlierEndNeeds) {
  const std::string text = absl::StrCat(
      kDescend, "task show creates v(x)(t) as n for x = 1:N-1  t = 1:T\n",
      "using u(x)(t) as a code\nn = 2*a\nend code end task\n",
      "result v(x)(T) for x = 1:N-1\n");
  const Job job = MustCompile(text, Points({}));
  EXPECT_TRUE(job.program.every_task_needed);
  const Ended ended = RunHere(job, 2);
  EXPECT_LT(ended.time, 60);
  EXPECT_EQ(ended.tasks, RunHere(MustCompile(kDescend, Points({})), 2).tasks +
                             8 * ended.time / 4);
  EXPECT_EQ(
      ended.digest,
      MustDigest(MustCompile(text, Points({{"T", absl::StrCat(ended.time)}})),
                 nullptr));
  Simulate(job, {.agents = 3}, 3);
}

// Each of two tasks that make it has its own rounds: 60 is no multiple of 8.
TEST(Deferral, KeepsWhatOnlyOtherEndsNeed) {
  const auto show = [](const std::string& name, const std::string& when) {
    return absl::StrCat(
        "task ", name, " creates v(x)(t) as n for x = 1:N-1  t = 4:T:4 where ",
        when, " using u(x)(t) as a code\nn = 2*a\n", "end code end task\n");
  };
  const std::string text =
      absl::StrCat(kDescend, show("even", "t % 8 == 0"),
                   show("odd", "t % 8 == 4"), "result v(x)(T) for x = 1:N-1\n");
  for (const char* bound : {"0.5", "0.2", "0.1", "0.01", "0"}) {
    SCOPED_TRACE(bound);
    const Job job = MustCompile(text, Points({{"bound", bound}}));
    EXPECT_TRUE(job.program.every_task_needed);
    const Ended ended = RunHere(job, 2);
    EXPECT_EQ(
        ended.digest,
        MustDigest(MustCompile(text, Points({{"T", absl::StrCat(ended.time)}})),
                   nullptr))
        << ended.time;
    Simulate(job, {.agents = 3}, 2);
  }
}

}  // namespace
}  // namespace dogged::dsl

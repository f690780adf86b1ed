// Aim: a loop ends where a plain loop over the same numbers ends, with the bits
// of the program that has that many steps, in one process and on agents under
// all faults.
// Method: a relaxation that stops on its change, against a reference in C++ and
// against -D T=...; simulated clusters, many seeds.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/reference.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/graph/rounds.h"
#include "tests/dsl/compile_tools.h"
#include "tests/dsl/repeat_tools.h"

namespace dogged::dsl {
namespace {

// The T at which the loop has to end.
int64_t ReferenceEnd(int64_t n, double bound, int64_t last) {
  std::vector<double> now(static_cast<size_t>(n), 0.0);
  now[0] = 1;
  for (int64_t t = 1; t <= last; ++t) {
    std::vector<double> next = now;
    double change = 0;
    for (size_t x = 1; x + 1 < now.size(); ++x) {
      next[x] = 0.5 * (now[x - 1] + now[x + 1]);
      change = std::max(change, std::abs(next[x] - now[x]));
    }
    now = next;
    if (t % 4 == 0 && change < bound) return t;
  }
  return last;
}

TEST(Repeat, EndsWhereThePlainLoopEnds) {
  for (const char* bound : {"0.5", "0.03", "0.01", "0.000001"}) {
    const Job job = MustCompile(kRelax, WithParameters({{"bound", bound}}));
    ASSERT_TRUE(job.program.repeat.has_value());
    const int64_t end = ReferenceEnd(12, std::stod(bound), 60);
    const Job fixed = MustCompile(
        kRelax, WithParameters({{"bound", bound}, {"T", absl::StrCat(end)}}));
    EXPECT_FALSE(fixed.program.repeat.has_value());
    const std::string digest = MustDigest(fixed, nullptr);
    EXPECT_EQ(MustDigest(job, nullptr), digest) << bound;
    for (const int workers : {1, 3}) {
      const Ended ended = RunHere(job, workers);
      EXPECT_EQ(ended.time, end) << bound;
      EXPECT_EQ(ended.digest, digest) << bound;
      // No task of a round that does not exist has run, and all others have.
      EXPECT_EQ(ended.tasks, ProgramAt(job.program, end).TaskCount()) << bound;
    }
  }
}

TEST(Repeat, JacobiIsTheLoopBesideIt) {
  for (const char* bound : {"0.05", "0.001"}) {
    const SerialOutcome out =
        MustRun(ReadApp("jacobi/jacobi.dog"),
                WithParameters({{"N", "9"}, {"bound", bound}}));
    ASSERT_EQ(out.values.size(), 2u);
    const std::vector<double> plate = apps::Jacobi(9, std::stod(bound));
    std::vector<double> expected;  // without the first and the last column
    for (size_t i = 0; i < plate.size(); ++i) {
      if (i % 9 > 0 && i % 9 < 8) expected.push_back(plate[i]);
    }
    EXPECT_THAT(out.values[0].span<double>(),
                testing::ElementsAreArray(expected));
    EXPECT_LT(out.values[1].span<double>()[0], std::stod(bound));
  }
}

// A result that only ends of rounds have must not make boundaries timeless:
// they would all run at the start.
TEST(Repeat, ARoundHasTheTasksOfThePlainLoop) {
  const std::string text = ReadApp("jacobi/jacobi.dog");
  CompileOptions points = WithParameters({{"N", "9"}});
  points.coalesce = false;
  const Job job = MustCompile(text, points);
  EXPECT_TRUE(job.program.every_task_needed);
  for (const int64_t end : {50, 100, 20000}) {
    CompileOptions options =
        WithParameters({{"N", "9"}, {"T", absl::StrCat(end)}});
    options.coalesce = false;
    // Else tasks of earlier rounds that nobody needs would be left out.
    const Job fixed = MustCompile(
        absl::StrCat(text, "result change(t) for t = 50:T:50\n"), options);
    // Each round has a condition as well.
    EXPECT_EQ(ProgramAt(job.program, end).TaskCount(),
              fixed.program.TaskCount() + end / 50);
  }
}

// Tasks that only the condition reads are run in the last round as in all
// others.
TEST(Repeat, RunsAllOfTheLastRound) {
  std::string text = kRelax;
  text.erase(text.find("result change"));
  const Job job = MustCompile(text, WithParameters({{"bound", "0.000001"}}));
  const Ended ended = RunHere(job, 3);
  EXPECT_EQ(ended.time, 60);
  EXPECT_EQ(ended.tasks, ProgramAt(job.program, 60).TaskCount());
  EXPECT_EQ(ended.digest, MustDigest(job, nullptr));
}

TEST(Repeat, OneRoundHasAnEnd) {
  const std::string text = absl::StrCat(
      "repeat T = 3:5:4 until u(T) < 0\nboundary u(0) = 1\n",
      "task cool creates u(t) as n for t = 1:T using u(t-1) as a\n",
      "code\nn = 0.5*a\nend code\nend task\nresult u(T)\n");
  const Job job = MustCompile(text, Options());
  EXPECT_EQ(RunHere(job, 1).time, 3);
  EXPECT_EQ(MustRun(text, Options()).values[0].span<double>()[0], 0.125);
}

// The condition may compare with a label that has no index.
TEST(Repeat, UntilALabelWithoutIndices) {
  const Ended expected = RunHere(MustCompile(kRelax, Options()), 1);
  for (const char* bound :
       {"boundary limit = 0.01\n", "input limit else 0.01\n",
        "task half creates limit as n using most as m code\nn = 0.01*m\n"
        "end code end task\nreduce most = max(u(x)(0)) over x = 0:0\n"}) {
    std::string text = absl::StrCat(kRelax, bound);
    text.replace(text.find("< bound"), 7, "< limit");
    const Job job = MustCompile(text, Options());
    const Ended ended = RunHere(job, 2);
    EXPECT_EQ(ended.time, expected.time) << job.lowering;
    EXPECT_EQ(RunHere(job, 1).digest, ended.digest);
  }
}

// Corners are wanted at the end alone.
TEST(Repeat, SaysWhatOnlyTheLastRoundHas) {
  for (const char* more : {"", "result change(T)\n"}) {
    std::string text = ReadApp("jacobi/jacobi.dog");
    text.replace(text.find("result u"), std::string::npos,
                 "result u(:)(:)(T)\n");
    Diagnostics diagnostics("", "");
    EXPECT_FALSE(
        Compile(text + more, Options(), KernelRegistry(), diagnostics).ok());
    EXPECT_THAT(diagnostics.ToString(),
                testing::EndsWith(
                    ":8: error[D027]: if the loop ends at T = 50, nothing "
                    "makes u(0)(0)(50)\n"
                    "48 | result u(:)(:)(T)\n"
                    "   |        ^^^^^^^^^^\n"
                    "   = help: leave out what no task reads, corners for "
                    "example:  for x = ...\n"));
  }
}

// A loop ends in one round only, so it has the results of one: 8 MB, not 8 TB.
TEST(Repeat, HasTheResultsOfOneRound) {
  const std::string text =
      "param N = 1000000\nrepeat T = 1:1000000 until u(0)(T) < 0\n"
      "boundary u(x)(0) = x where x >= 0 and x < N\n"
      "task cool creates u(x)(t) as n for x = 0:N-1  t = 1:T\n"
      "using u(x)(t-1) as a\ncode\nn = a - 1\nend code\nend task\n"
      "result u(:)(T)\n";
  EXPECT_GT(MustCompile(text, Options()).program.TaskCount(), 0);
}

// Labels that no later step reads are results all the same where the loop ends.
TEST(Repeat, TakesWhatNothingReads) {
  std::string text = absl::StrCat(
      kRelax, "task twice creates v(x)(t) as n for x = 1:N-2  t = 1:T\n",
      "using u(x)(t) as a code\nn = 2*a\nend code end task\n",
      "result v(:)(T)\n");
  CompileOptions points = Options();
  points.coalesce = false;
  const Ended ended = RunHere(MustCompile(text, points), 1);
  EXPECT_EQ(ended.digest,
            MustRun(text, WithParameters({{"T", absl::StrCat(ended.time)}}))
                .digest.ToString());
}

// A task of the first round reads what only a later one makes.
TEST(Repeat, SaysWhatALaterRoundMakes) {
  const auto said = [](const std::string& label) {
    const std::string text = absl::StrCat(
        kRelax, "task mid\n  creates m(x) as n\n  for x = 1:N-2\n  using ",
        label, " as a\n  code\n    n = a\n  end code\nend task\n",
        "result m(:)\n");
    Diagnostics diagnostics("", "");
    const bool is_good =
        Compile(text, Options(), KernelRegistry(), diagnostics).ok();
    EXPECT_EQ(is_good, !diagnostics.HasErrors());
    return diagnostics.ToString();
  };
  EXPECT_THAT(said("u(x)(30)"),
              testing::HasSubstr("error[D027]: if the loop ends at T = 4, "
                                 "nothing makes u(1)(30), which mid needs at "
                                 "x = 1\n"));
  EXPECT_EQ(said("u(x)(4)"), "");
}

// Boundaries of rounds that do not come are not run: with 20000 steps of each
// of 88 edge points, a task each, they would be nearly all there is.
TEST(Repeat, RunsNoBoundaryAhead) {
  CompileOptions options = Options();
  options.coalesce = false;
  const Job job = MustCompile(ReadApp("jacobi/jacobi.dog"), options);
  EXPECT_LT(ProgramAt(job.program, 50).TaskCount(), 2 * 50 * 24 * 24);
}

// Proofs take numbers where points of one step depend on others of the same:
// edges then have no bound that tells rounds apart.
TEST(Repeat, RunsNoBoundaryOfColoursAhead) {
  const Job job = MustCompile(R"(
param N = 20
repeat T = 5:20000:5 until change(T) < 1.0e-3
array u(x = 0:N-1)(y = 0:N-1)(t = 0:T) : double
array change(t = 0:T) : double
boundary u(x)(0)(t)   = 0
boundary u(x)(N-1)(t) = 0
boundary u(0)(y)(t)   = 1 where y > 0 and y < N-1
boundary u(N-1)(y)(t) = 0 where y > 0 and y < N-1
input u(x)(y)(0) for x = 1:N-2  y = 1:N-2 else 0
task red
  creates u(x)(y)(t) as n
  for x = 1:N-2  y = 1:N-2  t = 1:T
  where (x + y) % 2 == 0
  using u(x-1)(y)(t-1) as w  u(x+1)(y)(t-1) as e
        u(x)(y-1)(t-1) as s  u(x)(y+1)(t-1) as o
  code
    n = 0.25*(w + e + s + o)
  end code
end task
task black
  creates u(x)(y)(t) as n
  for x = 1:N-2  y = 1:N-2  t = 1:T
  where (x + y) % 2 == 1
  using u(x-1)(y)(t) as w  u(x+1)(y)(t) as e
        u(x)(y-1)(t) as s  u(x)(y+1)(t) as o
  code
    n = 0.25*(w + e + s + o)
  end code
end task
reduce change(t) = normmax(u(x)(y)(t)) for t = 5:T:5 over x = 1:N-2  y = 1:N-2
result u(x)(y)(T) for x = 1:N-2  y = 1:N-2
)",
                              Options());
  EXPECT_LT(ProgramAt(job.program, 5).TaskCount(), 2 * 5 * 20 * 20);
  EXPECT_LT(ProgramAt(job.program, 50).TaskCount(), 2 * 50 * 20 * 20);
}

// Tasks that later rounds begin with may turn out to be no leaves: parts of the
// reduction. A worker that is alone goes on looking.
TEST(Repeat, FindsTheLeavesOfLaterRounds) {
  const Job job =
      MustCompile(ReadApp("jacobi/jacobi.dog"),
                  WithParameters({{"N", "9"}, {"bound", "1.0e-9"}}));
  const std::string digest = MustDigest(job, nullptr);
  for (const int workers : {1, 1, 2, 3}) {
    const Ended ended = RunHere(job, workers);
    EXPECT_GT(ended.time, 50);
    EXPECT_EQ(ended.digest, digest);
  }
}

// An edge may be read in part, and be wanted in any part.
TEST(Repeat, TakesPartsOfEdges) {
  for (const char* result : {"result u(5)(:)(T)\n", "result u(0)(7)(T)\n",
                             "result u(:)(3)(T)\nresult change(T)\n"}) {
    std::string text = ReadApp("jacobi/jacobi.dog");
    text.replace(text.find("result u"), std::string::npos, result);
    const CompileOptions options = WithParameters({{"bound", "0.1"}});
    EXPECT_EQ(RunHere(MustCompile(text, options), 1).digest,
              MustRun(text, options).digest.ToString())
        << result;
  }
}

// Programs that docs/LANGUAGE.md says to write instead are right.
TEST(Repeat, TheExamplesOfTheReferenceHaveTheirResults) {
  std::ifstream in(DOGGED_LANGUAGE_MD);
  std::ostringstream all;
  all << in.rdbuf();
  const std::string text = all.str();
  const std::string begin = "```dog\n";
  int loops = 0;
  for (size_t at = text.find(begin); at != std::string::npos;
       at = text.find(begin, at)) {
    at += begin.size();
    const std::string example = text.substr(at, text.find("```", at) - at);
    if (example.find("\nrepeat ") == std::string::npos) continue;
    MustRun(example, Options());
    ++loops;
  }
  EXPECT_EQ(loops, 2);
}

TEST(Repeat, SaysWhatIsNoRoundsRange) {
  const std::string text =
      "repeat T = 2:8:2 until u(0)(T) < 0\nboundary u(x)(0) = 1\n"
      "task cool creates u(x)(t) as n for x = 0:T  t = 1:T using u(x)(t-1) as "
      "a\ncode\nn = a\nend code\nend task\nresult u(0)(T)\n";
  Diagnostics diagnostics("", "");
  EXPECT_FALSE(Compile(text, Options(), KernelRegistry(), diagnostics).ok());
  EXPECT_NE(diagnostics.ToString().find("D027"), std::string::npos)
      << diagnostics.ToString();
}

// u(6) is one of T = 6 and of T = 8, and no file says so in C++'s words.
TEST(Repeat, SaysWhatResultsAreOfSeveralRounds) {
  const std::string text =
      "repeat T = 2:8:2 until u(0)(T) < 0\nboundary u(x)(0) = 1\n"
      "task cool creates u(x)(t) as n for x = 0:5  t = 1:T using u(x)(t-1) as "
      "a\ncode\nn = a - 0.25\nend code\nend task\n";
  Diagnostics diagnostics("", "");
  EXPECT_FALSE(Compile(text + "result u(x)(T-t) for x = 0:5 t = 0:2", Options(),
                       KernelRegistry(), diagnostics)
                   .ok());
  EXPECT_NE(diagnostics.ToString().find(
                "error[D027]: the rounds of these results can't be told apart"),
            std::string::npos)
      << diagnostics.ToString();
  EXPECT_FALSE(Compile(text + "result u(x+y)(T) for x = 0:2 y = 0:2", Options(),
                       KernelRegistry(), diagnostics)
                   .ok());
  EXPECT_NE(diagnostics.ToString().find("error[D0"), std::string::npos)
      << diagnostics.ToString();
  const std::string backwards = text + "result u(x)(T-x) for x = 0:2";
  MustRun(backwards, Options());
  ExpectOneDigest(backwards, Options(), {.widths = {9}, .depth = 2}, nullptr);
}

TEST(Repeat, RunsOnAgents) {
  Simulate(MustCompile(kRelax, Options()), {.agents = 4}, 5);
}

TEST(Repeat, SurvivesAllFaults) {
  CompileOptions options = Options();
  options.coalesce = false;
  Simulate(MustCompile(kRelax, options),
           {.faults = ManyFaults(), .fault_span = absl::Seconds(3)}, 30);
}

TEST(Repeat, IsFoundBySearchAlone) {
  SimOptions options{.agents = 4};
  options.job.search_only = true;
  options.faults = {.crash = 1, .join = 1};
  options.fault_span = absl::Seconds(2);
  Simulate(MustCompile(kRelax, WithParameters({{"N", "8"}})), options, 5);
}

TEST(Repeat, EndsWithoutItsClient) {
  SimOptions options{.agents = 4};
  options.client_stays = false;
  Simulate(MustCompile(kRelax, Options()), options, 3);
}

}  // namespace
}  // namespace dogged::dsl

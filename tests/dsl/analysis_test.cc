// Aim: the analysis says the same of a program as counting.
// Method: random small programs by seed, each analysed, and enumerated point by
// point with no help from the analysis: producers of each label, missing
// labels, cycles, domains of boundaries, needed tasks. Then single programs for
// cases that random ones don't reach.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/check/check.h"
#include "dsl/isl/analysis_isl.h"
#include "dsl/text/parser.h"
#include "runtime/base/random.h"

namespace dogged::dsl {
namespace {

using Point = std::pair<size_t, IndexVector>;  // array or task, and index

std::string Text(const std::set<Point>& points) {
  std::string out;
  for (const auto& [of, index] : points) {
    absl::StrAppend(&out, of, index.ToString(), " ");
  }
  return out;
}

struct Counted {
  std::map<Point, int> producers;           // of labels
  std::map<Point, std::set<Point>> makers;  // label -> tasks
  std::set<Point> read;
  std::set<Point> wanted;
  std::map<Point, std::vector<Point>> requires_of;  // task -> labels
  bool has_two = false;
  bool has_missing = false;
  bool has_cycle = false;
  std::set<Point> needed;  // tasks
};

void FindNeeded(Counted& out) {
  std::vector<Point> open(out.wanted.begin(), out.wanted.end());
  while (!open.empty()) {
    const Point label = open.back();
    open.pop_back();
    for (const Point& task : out.makers[label]) {
      if (!out.needed.insert(task).second) continue;
      for (const Point& next : out.requires_of[task]) open.push_back(next);
    }
  }
}

void FindCycle(Counted& out) {
  std::map<Point, int> state;  // 1: on the path, 2: done
  std::function<void(const Point&)> visit = [&](const Point& task) {
    state[task] = 1;
    for (const Point& label : out.requires_of[task]) {
      for (const Point& maker : out.makers[label]) {
        if (state[maker] == 1) out.has_cycle = true;
        if (state[maker] == 0) visit(maker);
      }
    }
    state[task] = 2;
  };
  for (const auto& [task, labels] : out.requires_of) {
    if (state[task] == 0) visit(task);
  }
}

// `program` as it stands: with or without boundaries made to tasks.
Counted Count(const CheckedProgram& program) {
  Counted out;
  for (size_t k = 0; k < program.tasks.size(); ++k) {
    const CheckedTask& task = program.tasks[k];
    Instantiate(task.domain, program).ForEach([&](const IndexVector& point) {
      const Point self{k, point};
      out.requires_of[self];
      for (const CheckedCreate& create : task.creates) {
        const Point label{static_cast<size_t>(create.ref.array),
                          Apply(Instantiate(create.ref, program), point)};
        if (++out.producers[label] > 1) out.has_two = true;
        out.makers[label].insert(self);
      }
      for (const CheckedUse& use : task.uses) {
        if (!Instantiate(use.guard, program).Holds(point)) continue;
        const Point label{static_cast<size_t>(use.ref.array),
                          Apply(Instantiate(use.ref, program), point)};
        out.read.insert(label);
        out.requires_of[self].push_back(label);
      }
      return true;
    });
  }
  for (const CheckedResult& result : program.results) {
    Instantiate(result.domain, program).ForEach([&](const IndexVector& point) {
      out.wanted.insert({static_cast<size_t>(result.ref.array),
                         Apply(Instantiate(result.ref, program), point)});
      return true;
    });
  }
  for (const auto& labels : {out.read, out.wanted}) {
    for (const Point& label : labels) {
      out.has_missing = out.has_missing || out.producers.count(label) == 0;
    }
  }
  FindNeeded(out);
  if (!out.has_two) FindCycle(out);
  return out;
}

std::string RandomText(uint64_t seed) {
  Rng rng(seed);
  const auto offset = [&](const char* name, int64_t least, int64_t most) {
    const int64_t by = least + rng.Below(most - least + 1);
    return by == 0  ? std::string(name)
           : by > 0 ? absl::StrCat(name, "+", by)
                    : absl::StrCat(name, by);
  };
  std::string out = "param N = 6\n";
  const int64_t tasks = 1 + rng.Below(2);
  const char* arrays[] = {"p", "q"};
  for (int64_t k = 0; k < tasks; ++k) {
    absl::StrAppend(&out, "task t", k, "\n  creates ", arrays[rng.Below(2)],
                    "(", offset("i", 0, 1),
                    ")(t) as n\n  for  i = ", rng.Below(3), ":",
                    offset("N", -3, 0), rng.Chance(0.2) ? ":2" : "",
                    "  t = 1:", rng.Chance(0.3) ? "i+1" : "3", "\n");
    if (rng.Chance(0.2)) out += "  where i > t or t == 1\n";
    out += "  using\n";
    for (int64_t u = rng.Below(3); u >= 0; --u) {
      absl::StrAppend(&out, "    ", arrays[rng.Below(2)], "(",
                      offset("i", -1, 1), ")(", offset("t", -2, 0), ") as u",
                      u);
      if (rng.Chance(0.3)) out += " where i > 1 else 0";
      out += "\n";
    }
    out += "  code\n    n = 1\n  end code\nend task\n";
  }
  if (rng.Chance(0.8)) out += "boundary p(i)(0) = 0\nboundary q(i)(0) = 0\n";
  if (rng.Chance(0.5)) out += "boundary p(i)(t) = 0 where t != 0\n";
  if (rng.Chance(0.5)) out += "boundary q(i)(-1) = 0\n";
  if (rng.Chance(0.5)) out += "boundary q(i)(t) = 0 where t > 0 and i < 3\n";
  absl::StrAppend(&out, "result ", arrays[rng.Below(2)], "(i)(",
                  1 + rng.Below(3), ") for i = 2:4\n");
  return out;
}

bool Has(const Diagnostics& diagnostics, Code code) {
  for (const Diagnostic& d : diagnostics.all()) {
    if (d.code == code && d.severity == Severity::kError) return true;
  }
  return false;
}

struct Analysed {
  CheckedProgram program;
  std::string text;
  bool is_good = false;
};

Analysed Analyse(const std::string& text, const ParameterValues& values = {}) {
  Analysed out;
  Diagnostics diagnostics("test", text);
  out.program = Check(Parse(diagnostics), {.parameters = values}, diagnostics);
  AnalyzeWithIsl(out.program, diagnostics);
  out.text = diagnostics.ToString();
  out.is_good = !diagnostics.HasErrors();
  return out;
}

// The labels that the boundaries of `program` should make, by counting.
std::set<Point> BoundaryLabels(const CheckedProgram& program,
                               const Counted& without) {
  std::set<Point> out;
  for (const auto& labels : {without.read, without.wanted}) {
    for (const Point& label : labels) {
      if (without.producers.count(label) > 0) continue;
      for (const CheckedBoundary& boundary : program.boundaries) {
        if (static_cast<size_t>(boundary.ref.array) != label.first) continue;
        // Two indices, each in -9..9: try them all.
        Domain all;
        for (const std::string& name : boundary.free) {
          all.dimensions.push_back(
              {.name = name,
               .lower = {{.expr = AffineExpr::Constant(-9)}},
               .upper = {{.expr = AffineExpr::Constant(9)}}});
        }
        all.guard = Instantiate(boundary.where, program);
        all.ForEach([&](const IndexVector& point) {
          if (Apply(Instantiate(boundary.ref, program), point) ==
              label.second) {
            out.insert(label);
          }
          return true;
        });
      }
    }
  }
  return out;
}

struct Tally {
  int good = 0;
  int two = 0;
  int missing = 0;
  int cycles = 0;
  int refused = 0;
  int exact = 0;  // with tasks that nobody needs, all of them found
};

void Compare(uint64_t seed, Tally& tally) {
  const std::string text = RandomText(seed);
  SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", text));
  Diagnostics diagnostics("test", text);
  CheckedProgram program = Check(Parse(diagnostics), {}, diagnostics);
  if (diagnostics.HasErrors()) {
    // An array without any creator: nothing to count.
    ASSERT_TRUE(Has(diagnostics, Code::kNoProducer)) << diagnostics.ToString();
    return;
  }
  const Counted without = Count(program);
  const std::set<Point> edges = BoundaryLabels(program, without);
  AnalyzeWithIsl(program, diagnostics);
  SCOPED_TRACE(diagnostics.ToString());
  if (Has(diagnostics, Code::kBoundary)) {
    // Beyond the form that a domain has: said, not guessed.
    ++tally.refused;
    return;
  }
  const Counted with = Count(program);
  // Boundaries are tasks now, with just the domains that they should have.
  std::set<Point> made;
  for (size_t k = 0; k < program.tasks.size(); ++k) {
    if (program.tasks[k].origin != CheckedTask::Origin::kBoundary) continue;
    for (const auto& [label, makers] : with.makers) {
      for (const Point& maker : makers) {
        if (maker.first == k) made.insert(label);
      }
    }
  }
  ASSERT_EQ(Text(made), Text(edges));
  ASSERT_EQ(Has(diagnostics, Code::kTwoProducers), with.has_two);
  ASSERT_EQ(Has(diagnostics, Code::kNoProducer), with.has_missing);
  if (with.has_two) ++tally.two;
  if (with.has_missing) ++tally.missing;
  if (with.has_two || with.has_missing) return;
  ASSERT_EQ(Has(diagnostics, Code::kCycle), with.has_cycle);
  if (with.has_cycle) {
    ++tally.cycles;
    return;
  }
  ++tally.good;
  ASSERT_FALSE(diagnostics.HasErrors());
  ASSERT_EQ(program.every_task_needed,
            with.needed.size() == with.requires_of.size());
  for (size_t k = 0; k < program.tasks.size(); ++k) {
    if (!program.tasks[k].needed) continue;
    std::set<Point> found;
    Instantiate(*program.tasks[k].needed, program)
        .ForEach([&](const IndexVector& point) {
          found.insert({k, point});
          return true;
        });
    std::set<Point> right;
    for (const Point& task : with.needed) {
      if (task.first == k) right.insert(task);
    }
    ASSERT_EQ(Text(found), Text(right));
    ++tally.exact;
  }
}

TEST(Analysis, SaysWhatCountingSays) {
  Tally tally;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Compare(seed, tally);
    if (HasFatalFailure()) return;
  }
  // The programs are not all of one kind.
  EXPECT_GE(tally.good, 5);
  EXPECT_GE(tally.two, 20);
  EXPECT_GE(tally.missing, 20);
  EXPECT_GE(tally.cycles, 2);
  EXPECT_GE(tally.exact, 5);
  EXPECT_LE(tally.refused, 10);
}

constexpr absl::string_view kHeat = R"(
param N = 5001
param T = 100
task start
  creates phi(x)(0) as n
  for x = 0:N-1
  code
    n = x*(N-1-x)
  end code
end task
boundary phi(0)(t) = 0
boundary phi(N-1)(t) = 0
task finDiff
  creates phi(x)(t) as n
  for
    x = 1:N-2
    t = 1:T
  using
    phi(x)(t-1)   as c
    phi(x-1)(t-1) as l
    phi(x+1)(t-1) as r
  code
    n = c + 0.0125*(l + r - 2*c)
  end code
end task
)";

TEST(Analysis, TheDefaultResultOfAStencilIsItsLastStep) {
  const Analysed heat = Analyse(std::string(kHeat));
  ASSERT_TRUE(heat.is_good) << heat.text;
  ASSERT_EQ(heat.program.results.size(), 1u);
  const Domain domain =
      Instantiate(heat.program.results[0].domain, heat.program);
  EXPECT_EQ(domain.Count(), 5001);
  EXPECT_TRUE(domain.Contains({0, 100}));
  EXPECT_TRUE(domain.Contains({5000, 100}));
  EXPECT_TRUE(heat.program.every_task_needed);
  EXPECT_EQ(heat.program.arrays[0].lower, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(heat.program.arrays[0].upper, (std::vector<int64_t>{5000, 100}));
}

TEST(Analysis, ASliceOfTheResultsNeedsItsConeAlone) {
  const Analysed heat = Analyse(absl::StrCat(kHeat, "result phi(2000)(50)\n"));
  ASSERT_TRUE(heat.is_good) << heat.text;
  EXPECT_FALSE(heat.program.every_task_needed);
  const CheckedTask& task = heat.program.tasks[1];
  ASSERT_EQ(task.name, "finDiff");
  ASSERT_TRUE(task.needed.has_value());
  // 1 + 3 + 5 + ... + 99.
  EXPECT_EQ(Instantiate(*task.needed, heat.program).Count(), 2500);
}

TEST(Analysis, AGridOfTwoPointsIsAllEdge) {
  const Analysed heat = Analyse(absl::StrCat(kHeat, "result phi(:)(T)\n"),
                                {{"N", "2"}, {"T", "3"}});
  EXPECT_TRUE(heat.is_good) << heat.text;
}

TEST(Analysis, NeedsNoTimeForLargeParameters) {
  // Counting 10^11 points would not end.
  const Analysed heat =
      Analyse(std::string(kHeat), {{"N", "1000000001"}, {"T", "100"}});
  EXPECT_TRUE(heat.is_good) << heat.text;
}

// isl looks for a schedule of this for half a minute if one lets it; its points
// are few, and looked through at once.
constexpr char kKnot[] = R"(
input c(x) for x = 0:99 else x
boundary u(x)(t) = x where t < 1 and x >= 1 and x <= 90
boundary u(x)(t) = periodic(x)
boundary v(x)(t) = 0
task a
  creates u(x)(t) as n
  for x = 1:90  t = 1:9
  using
    v(x-1)(t-1) as r
    u(x)(t-1)   as s
  code
    n = r + s
  end code
end task
task b
  creates v(x)(t) as n
  for x = 0:91  t = 1:9
  where x % 2 == 0
  using u(x+1)(t-1) as r
  code
    n = r
  end code
end task
task d
  creates v(x)(t) as n
  for x = 0:91  t = 1:9
  where x % 2 == 1
  using
    u(x)(t)   as r
    v(x)(t-1) as q
    u(x-1)(t) as s
  code
    n = r + s + q
  end code
end task
result u(x)(9) for x = 8:18
)";

// Three fields that read nine points of each other, with a rim that copies the
// edge: too many pairs to look for a schedule of all.
std::string ThreeFields() {
  const std::vector<std::string> fields = {"a", "b", "c"};
  const auto all = [&](const std::string& verb, const std::string& index) {
    std::string out = verb;
    for (const std::string& f : fields) {
      absl::StrAppend(&out, f == "a" ? " " : ", ", f, index, " as ", f, "n");
    }
    return out + "\n";
  };
  std::string out = "param N = 640\nparam T = 200\n";
  for (const std::string& f : fields) {
    absl::StrAppend(&out, "input ", f,
                    "(x)(y)(0) for x = 0:N-1 y = 0:N-1 else x - y\n");
  }
  const auto edge = [&](const std::string& to, const std::string& from,
                        const std::string& range) {
    absl::StrAppend(&out, "task edge",
                    to == "(-1)(y)(t)"  ? "W"
                    : to == "(N)(y)(t)" ? "E"
                    : to == "(x)(N)(t)" ? "N"
                                        : "S",
                    "\n", all("  creates", to), "  for ", range,
                    " t = 0:T-1\n  using\n");
    for (const std::string& f : fields) {
      absl::StrAppend(&out, "    ", f, from, " as ", f, "e\n");
    }
    absl::StrAppend(&out, "  code\n    an = ae\n    bn = be\n    cn = ce\n",
                    "  end code\nend task\n");
  };
  // With its corners, so that the nine points are there.
  edge("(-1)(y)(t)", "(0)(y)(t)", "y = 0:N-1");
  edge("(N)(y)(t)", "(N-1)(y)(t)", "y = 0:N-1");
  edge("(x)(-1)(t)", "(x)(0)(t)", "x = -1:N");
  edge("(x)(N)(t)", "(x)(N-1)(t)", "x = -1:N");
  absl::StrAppend(&out, "task step\n", all("  creates", "(x)(y)(t)"),
                  "  for x = 0:N-1 y = 0:N-1 t = 1:T\n  using\n");
  std::string sum = "0";
  for (const std::string& f : fields) {
    for (int i = 0; i < 9; ++i) {
      const std::string name = absl::StrCat(f, i);
      absl::StrAppend(&out, "    ", f, "(x",
                      i / 3 == 0   ? "-1"
                      : i / 3 == 1 ? ""
                                   : "+1",
                      ")(y",
                      i % 3 == 0   ? "-1"
                      : i % 3 == 1 ? ""
                                   : "+1",
                      ")(t-1) as ", name, "\n");
      absl::StrAppend(&sum, " + ", name);
    }
  }
  absl::StrAppend(&out, "  code\n    an = ", sum, "\n    bn = 0.5*(", sum,
                  ")\n    cn = 0.25*(", sum, ")\n  end code\nend task\n");
  for (const std::string& f : fields) {
    absl::StrAppend(&out, "result ", f, "(x)(y)(T) for x = 0:N-1 y = 0:N-1\n");
  }
  return out;
}

TEST(Analysis, OrdersThreeFieldsOfNinePoints) {
  const Analysed three = Analyse(ThreeFields(), {});
  EXPECT_TRUE(three.is_good) << three.text;
  EXPECT_EQ(three.text, "");
  EXPECT_TRUE(three.program.every_task_needed);
}

// Within a step, one sweep after another: an index that grows along all of a
// ring is as good as one that falls.
TEST(Analysis, OrdersSweepsToAndFro) {
  const Analysed sweeps = Analyse(R"(
param N = 1000
param T = 1000
boundary u(i)(j)(0) = i + j
boundary u(i)(0)(t) = 1 where t > 0
boundary u(i)(N)(t) = 1 where t > 0
boundary f(i)(0)(t) = 1
boundary b(N)(j)(t) = 1
boundary b(0)(j)(t) = 1
boundary g(i)(0)(t) = 1
boundary p(i)(0)(t) = 0
boundary r(i)(0)(t) = 0
task left_factor
  creates p(i)(j)(t) as n
  for t = 1:T  i = 1:N-1  j = 1:N-1
  using p(i)(j-1)(t) as a
  code
    n = 0.4/(1.8 - a)
  end code
end task
task right_factor
  creates r(i)(j)(t) as n
  for t = 1:T  i = 1:N-1  j = 1:N-1
  using r(i)(j-1)(t) as a
  code
    n = 0.3/(1.6 - a)
  end code
end task
task right
  creates f(i)(j)(t) as n
  for t = 1:T  i = 1:N-1  j = 1:N-1
  using
    f(i)(j-1)(t) as l
    u(j)(i-1)(t-1) as c
    u(j)(i)(t-1) as d
    u(j)(i+1)(t-1) as e
    p(i)(j-1)(t) as w
  code
    n = w*l + c - d + e
  end code
end task
task up
  creates b(j)(i)(t) as n
  for t = 1:T  i = 1:N-1  j = 1:N-1
  using b(j+1)(i)(t) as l  f(i)(j)(t) as c  p(i)(j)(t) as w
  code
    n = w*l - c
  end code
end task
task across
  creates g(i)(j)(t) as n
  for t = 1:T  i = 1:N-1  j = 1:N-1
  using
    g(i)(j-1)(t) as l
    b(i-1)(j)(t) as c
    b(i)(j)(t) as d
    b(i+1)(j)(t) as e
    r(i)(j-1)(t) as w
  code
    n = w*l + c - d + e
  end code
end task
task back
  creates u(i)(j)(t) as n
  for t = 1:T  i = 1:N-1  j = 1:N-1
  using u(i)(j+1)(t) as l  g(i)(j)(t) as c  r(i)(j)(t) as w
  code
    n = w*l - c
  end code
end task
result u(i)(j)(T) for i = 1:N-1  j = 1:N-1
)",
                                  {});
  EXPECT_TRUE(sweeps.is_good) << sweeps.text;
  EXPECT_EQ(sweeps.text, "");
}

// A factorisation and two substitutions: three rings of tasks, of which isl
// finds a schedule for each within its steps, and for all at once does not.
TEST(Analysis, OrdersRingsOneByOne) {
  std::ifstream file(DOGGED_PROGRAMS_DIR "/nests/lu_solve.dog");
  std::ostringstream text;
  text << file.rdbuf();
  const Analysed three = Analyse(text.str(), {{"N", "500"}});
  EXPECT_TRUE(three.is_good) << three.text;
  EXPECT_EQ(three.text, "");
}

TEST(Analysis, GivesUpOnASchedule) {
  const Analysed knot = Analyse(kKnot, {});
  EXPECT_TRUE(knot.is_good) << knot.text;
  EXPECT_EQ(knot.text.find("D023"), std::string::npos) << knot.text;
}

}  // namespace
}  // namespace dogged::dsl

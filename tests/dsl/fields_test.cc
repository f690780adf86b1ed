// Aim: a program means what LANGUAGE.md says, however it is run.
// Method: random programs over fields, by seed. Each label that is wanted is
// evaluated here, by asking who makes it (field_program.h), and compared with
// the bits of the serial run; tiles, points, interpreted and compiled have the
// digest of that.
#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dsl/ir/tile_bodies.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "tests/dsl/compile_tools.h"
#include "tests/dsl/field_program.h"
#include "tests/sim/serial.h"

namespace dogged::dsl {
namespace {

Number ElementAt(const Value& value, size_t i) {
  switch (value.type()) {
    case ElementType::kDouble:
      return value.span<double>()[i];
    case ElementType::kFloat:
      return value.span<float>()[i];
    case ElementType::kInt64:
      break;
  }
  return value.span<int64_t>()[i];
}

std::string LabelText(const std::string& array, const Point& at) {
  std::string out = array;
  for (const int64_t i : at) absl::StrAppend(&out, "(", i, ")");
  return out;
}

// Compares all that is in a view with what its labels should be.
void ExpectView(const ResultView& view, const Value& dense,
                FieldProgram& program) {
  bool has_gaps = false;
  for (const FieldResult& result : program.results()) {
    has_gaps |= result.array == view.array && result.has_gaps;
  }
  Point at = view.lower;
  size_t count = 1;
  for (size_t d = 0; d < at.size(); ++d) {
    count *= static_cast<size_t>(view.Count(d));
  }
  ASSERT_EQ(static_cast<size_t>(dense.element_count()), count);
  for (size_t i = 0; i < static_cast<size_t>(dense.element_count()); ++i) {
    const std::string label = LabelText(view.array, at);
    const Number found = ElementAt(dense, i);
    const bool is_wanted = program.IsWanted(view.array, at);
    std::optional<Number> expected;
    if (is_wanted) {
      expected = program.ValueOf(view.array, at);
      ASSERT_TRUE(expected.has_value()) << "nothing makes " << label;
    }
    // Where a condition leaves it out there is a gap, even if another result of
    // the array wants it.
    const bool is_gap = has_gaps && AsReal(found) == 0;
    ASSERT_TRUE((is_wanted && SameBits(found, *expected)) || is_gap)
        << label << " is " << NumberText(found) << ", not "
        << (is_wanted ? NumberText(*expected) : "wanted");
    for (size_t d = at.size(); d > 0; --d) {
      at[d - 1] += view.step[d - 1];
      if (at[d - 1] <= view.upper[d - 1]) break;
      at[d - 1] = view.lower[d - 1];
    }
  }
}

// Every label that is wanted, so that NaNs are known before.
void EvaluateAll(FieldProgram& program) {
  for (const FieldResult& result : program.results()) {
    Point at;
    for (const NamedRange& range : result.ranges) at.push_back(range.first);
    bool is_over = false;
    while (!is_over) {
      if (program.IsWanted(result.array, at)) {
        ASSERT_TRUE(program.ValueOf(result.array, at).has_value())
            << "nothing makes " << LabelText(result.array, at);
      }
      size_t d = at.size();
      while (d > 0 && at[d - 1] == result.ranges[d - 1].last) {
        at[d - 1] = result.ranges[d - 1].first;
        --d;
      }
      is_over = d == 0;
      if (!is_over) ++at[d - 1];
    }
  }
}

// Result of the analysis. It is the same in whatever way a program is run, and
// takes longer to find than all the rest.
struct Analysed {
  bool is_done = false;
  CheckedProgram program;
};
Analysed& TheAnalysed() {
  static Analysed analysed;
  return analysed;
}
void AnalyzeOnce(CheckedProgram& program, Diagnostics& diagnostics) {
  Analysed& analysed = TheAnalysed();
  if (analysed.is_done) {
    program = analysed.program;
    return;
  }
  AnalyzeWithIsl(program, diagnostics);
  analysed = {true, program};
}

struct Tally {
  int run = 0;
  int with_nan = 0;
  int in_tiles = 0;
};

void RunSeed(uint64_t seed, const CompileSource& compile, Tally& tally) {
  FieldProgram program(seed);
  const std::string text = program.Text();
  SCOPED_TRACE(
      absl::StrCat("replay: DOGGED_TEST_SEEDS=", seed, ":", seed, "\n", text));
  EvaluateAll(program);
  if (testing::Test::HasFatalFailure()) return;
  if (program.has_nan()) {
    ++tally.with_nan;
    return;
  }
  CompileOptions options = Options();
  options.analyze = AnalyzeOnce;
  TheAnalysed().is_done = false;
  const SerialOutcome out = MustRun(text, options);
  if (testing::Test::HasFailure()) return;
  for (size_t v = 0; v < out.views.size(); ++v) {
    ExpectView(out.views[v], out.values[v], program);
    if (testing::Test::HasFatalFailure()) return;
  }
  const std::string serial = out.digest.ToString();
  Rng rng(seed);
  options.shape = TileShape{.widths = {}, .depth = 1 + rng.Below(5)};
  for (size_t d = 0; d < program.space(); ++d) {
    options.shape->widths.push_back(1 + rng.Below(12));
  }
  for (const bool coalesce : {true, false}) {
    options.coalesce = coalesce;
    const Job job = MustCompile(text, options);
    SCOPED_TRACE(job.lowering);
    EXPECT_EQ(MustDigest(job, nullptr), serial) << "interpreted";
    ExpectForetold(job);
    if (compile != nullptr) {
      EXPECT_EQ(MustDigest(job, compile), serial) << "compiled";
    }
    if (absl::StrContains(job.lowering, " tiles of ")) ++tally.in_tiles;
  }
  ++tally.run;
}

TEST(Fields, RandomProgramsMeanWhatTheySay) {
  const KernelCache cache;
  const auto [first, last] = SeedRange(32);
  Tally tally;
  for (int64_t seed = first; seed <= last; ++seed) {
    // Compiling takes most of the time.
    const bool is_compiled = seed % 8 == 0 || first == last;
    RunSeed(static_cast<uint64_t>(seed),
            is_compiled ? cache.Source() : CompileSource(), tally);
    if (HasFailure()) return;
  }
  if (tally.run >= 10) {
    EXPECT_GT(tally.in_tiles, 0);
  }
  std::printf("%d programs, %d of them in tiles; %d more have NaNs\n",
              tally.run, tally.in_tiles, tally.with_nan);
}

// A formula that holds wherever no task creates: the start and all edges of a
// box, which is not at the edges of the array either.
TEST(Fields, AFormulaAroundABoxGoesThroughNoneOfItsPoints) {
  const auto [first, last] = SeedRange(12);
  for (int64_t seed = first; seed <= last; ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    const int64_t space = 1 + rng.Below(3);
    std::string labels;
    std::string whole;
    std::string inside;
    std::string reads;
    std::string sum = "0.5*here";
    for (int64_t d = 0; d < space; ++d) {
      const int64_t last_point = 8 + rng.Below(9);
      absl::StrAppend(&labels, "(x", d, ")");
      absl::StrAppend(&whole, " x", d, " = 0:", last_point);
      absl::StrAppend(&inside, " x", d, " = ", 1 + rng.Below(3), ":",
                      last_point - 1 - rng.Below(3));
      for (const std::string side : {"-", "+"}) {
        std::string at;
        for (int64_t e = 0; e < space; ++e) {
          absl::StrAppend(&at, "(x", e, e == d ? side + "1" : "", ")");
        }
        const std::string name = absl::StrCat(side == "-" ? "a" : "b", d);
        absl::StrAppend(&reads, "    u", at, "(t-1) as ", name, "\n");
        absl::StrAppend(&sum, " + 0.25*", name);
      }
    }
    const std::string text = absl::StrCat(
        "boundary u", labels, "(t) = 0.5*x0 + 0.125*t\ntask step\n  creates u",
        labels, "(t) as n\n  for", inside, " t = 1:", 2 + rng.Below(9),
        "\n  using\n    u", labels, "(t-1) as here\n", reads,
        "  code\n    n = ", sum, "\n  end code\nend task\nresult u", labels,
        "(2) for", whole, "\n");
    SCOPED_TRACE(absl::StrCat("replay: DOGGED_TEST_SEEDS=", seed, ":", seed,
                              "\n", text));
    CompileOptions options = Options();
    const std::string serial = MustRun(text, options).digest.ToString();
    options.shape = TileShape{.widths = {}, .depth = 1 + rng.Below(3)};
    for (int64_t d = 0; d < space; ++d) {
      options.shape->widths.push_back(2 + rng.Below(9));
    }
    const Job job = MustCompile(text, options);
    if (HasFailure()) return;
    EXPECT_THAT(job.lowering, testing::HasSubstr("steps deep"));
    EXPECT_EQ(MustDigest(job, nullptr), serial);
    const absl::StatusOr<TilePlan> plan =
        DecodeTilePlan(job.program.kernels.front());
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (const TilePiece& piece : plan->pieces) EXPECT_LT(piece.code.mask, 0);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace dogged::dsl

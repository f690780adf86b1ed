// Aim: the command line selects the labels that a user means, and errors of a
// selection are in its own text.
// Method: small programs, selections, the labels that they stand for; the exact
// words about wrong ones.
#include "dsl/lower/selections.h"
#include "gmock/gmock.h"
#include "tests/dsl/compile_tools.h"

namespace dogged::dsl {
namespace {

using ::testing::ElementsAre;

// A ring of N points, with a result that has gaps.
constexpr char kRing[] = R"(
param N = 10
param T = 4
task start
  creates u(x)(0) as n
  for x = 0:N-1
  code
    n = 100 + x
  end code
end task
boundary u(x)(t) = periodic(x)
task advect
  creates u(x)(t) as n
  for  x = 0:N-1  t = 1:T
  using
    u(x-1)(t-1) as left
    u(x+2)(t-1) as right
  code
    n = left + right
  end code
end task
result u(x)(0) for x = 0:N-1:3
result u(2)(T)
)";

struct Outcome {
  absl::Status status;
  Job job;
  std::vector<SelectedLabels> labels;
  std::vector<ResultFile> files;
  std::string words;
};

Outcome Select(const std::string& text, std::vector<std::string> selections) {
  CompileOptions options = Options();
  options.selections = std::move(selections);
  Outcome out;
  Diagnostics diagnostics("", "");
  PlacedResults placed;
  absl::StatusOr<Job> job =
      Compile(text, options, KernelRegistry(), diagnostics, &placed);
  out.labels = std::move(placed.selections);
  out.files = std::move(placed.files);
  out.status = job.status();
  if (job.ok()) out.job = *std::move(job);
  out.words = diagnostics.ToString();
  return out;
}

// The values of one selection, cut from nothing: they fill their view.
std::vector<double> ValuesOf(const std::string& text,
                             const std::string& selection) {
  CompileOptions options = Options();
  options.selections = {selection};
  const SerialOutcome out = MustRun(text, options);
  const Outcome found = Select(text, {selection});
  const Value& value = out.values[found.labels[0].view];
  return {value.span<double>().begin(), value.span<double>().end()};
}

TEST(Selection, OfARingAreItsOwnPoints) {
  const Outcome out = Select(kRing, {"u(:)(3)", "u(:)(:)"});
  ASSERT_TRUE(out.status.ok()) << out.words;
  EXPECT_THAT(out.labels[0].lower, ElementsAre(0, 3));
  EXPECT_THAT(out.labels[0].upper, ElementsAre(9, 3));
  EXPECT_THAT(out.labels[1].lower, ElementsAre(0, 0));
  EXPECT_THAT(out.labels[1].upper, ElementsAre(9, 4));
}

TEST(Selection, OfADeclaredRingToo) {
  std::string text = kRing;
  text.insert(text.find("task start"),
              "array u(x = 0:N-1)(t = 0:T) : double\n");
  const Outcome out = Select(text, {"u(:)(3)"});
  ASSERT_TRUE(out.status.ok()) << out.words;
  EXPECT_THAT(out.labels[0].lower, ElementsAre(0, 3));
  EXPECT_THAT(out.labels[0].upper, ElementsAre(9, 3));
  text.replace(text.find("0:N-1:3"), 7, "-1:N-1:3");
  EXPECT_THAT(Select(text, {}).words,
              testing::HasSubstr("the result wants u(-1)(0)"));
}

// The ends of a ring take their values from the other end, asked for or not.
TEST(Selection, RangesHaveBothEnds) {
  EXPECT_THAT(ValuesOf(kRing, "u(2:5)(0)"), ElementsAre(102, 103, 104, 105));
  EXPECT_THAT(ValuesOf(kRing, "u(9)(1)"), ElementsAre(108 + 101));
}

TEST(Selection, RangesMayHaveSteps) {
  EXPECT_THAT(ValuesOf(kRing, "u(1:N-1:3)(0)"), ElementsAre(101, 104, 107));
  EXPECT_THAT(ValuesOf(kRing, "u(2:4:5)(0:T:9)"), ElementsAre(102));
  const Outcome out = Select(kRing, {"u(1:9:3)(0:T:2)", "u(0:9:6)(0)"});
  ASSERT_TRUE(out.status.ok()) << out.words;
  EXPECT_THAT(out.labels[0].lower, ElementsAre(1, 0));
  EXPECT_THAT(out.labels[0].upper, ElementsAre(7, 4));
  EXPECT_THAT(out.labels[0].step, ElementsAre(3, 2));
  EXPECT_THAT(out.labels[1].step, ElementsAre(6, 1));
  EXPECT_THAT(out.labels[1].names, ElementsAre("x", "t"));
}

// A result with gaps holds u(3:5)(0) as little as u(1)(0).
TEST(Selection, IsNotTakenFromResultsWithGaps) {
  const Outcome out = Select(kRing, {"u(3:5)(0)", "u(4)(0)", "u(2)(4)"});
  ASSERT_TRUE(out.status.ok()) << out.words;
  EXPECT_EQ(out.job.program.views.size(), 3u);
  EXPECT_EQ(out.labels[0].view, 2);
  EXPECT_EQ(out.labels[1].view, 2) << "the selection before covers it";
  EXPECT_EQ(out.labels[2].view, 1) << "the program's own";
}

TEST(Selection, BareNamesAreTheProgramsOwnResults) {
  const Outcome two = Select(kRing, {"u(:)(1)", "u"});
  EXPECT_EQ(two.status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(two.words,
            "--output: error[D015]: the program has several results of u\n"
            "   | u\n"
            "   | ^\n"
            "   = help: say which:  u(0:9:3)(0)  or  u(2)(4)\n");
  std::string text = kRing;
  // No selection has the labels of a result with a gap.
  text.insert(text.find("result u(x)"),
              "result u(x)(3) for x = 0:N-1 where x != 4\n");
  EXPECT_THAT(Select(text, {"u"}).words,
              testing::HasSubstr("write  to \"FILE\"  behind it"));
  text = kRing;
  text.erase(text.find("result u(x)"),
             text.find("result u(2)") - text.find("result u(x)"));
  const Outcome one = Select(text, {"u(:)(1)", "u"});
  ASSERT_TRUE(one.status.ok()) << one.words;
  EXPECT_EQ(one.labels[1].view, 0);
  EXPECT_THAT(one.labels[1].lower, ElementsAre(2, 4));
}

// Without a result the program is run for its last step, whatever else is
// asked for.
TEST(Selection, TheLastStepStaysTheResult) {
  std::string text = kRing;
  text.erase(text.find("result"));
  const Outcome out = Select(text, {"u(:)(1)", "u"});
  ASSERT_TRUE(out.status.ok()) << out.words;
  EXPECT_EQ(out.words, "");
  EXPECT_THAT(out.labels[0].lower, ElementsAre(0, 1));
  EXPECT_THAT(out.labels[1].lower, ElementsAre(0, 4));
  EXPECT_THAT(out.labels[1].upper, ElementsAre(9, 4));
}

constexpr char kSteps[] = R"(
param T = 9
task make
  creates v(t)(k) as n
  for  t = 2:T:3  k = -1:4:2
  code
    n = 10*t + k
  end code
end task
result v(:)(1)
)";

TEST(Selection, HasTheIndicesThatThereAre) {
  EXPECT_THAT(ValuesOf(kSteps, "v"), ElementsAre(21, 51, 81));
  EXPECT_THAT(ValuesOf(kSteps, "v(:)(:)"),
              ElementsAre(19, 21, 23, 49, 51, 53, 79, 81, 83));
  EXPECT_THAT(ValuesOf(kSteps, "v(5)(:)"), ElementsAre(49, 51, 53));
  const Outcome out = Select(kSteps, {"v(:)(:)"});
  EXPECT_THAT(out.labels[0].lower, ElementsAre(2, -1));
  EXPECT_THAT(out.labels[0].upper, ElementsAre(8, 3));
  EXPECT_THAT(out.labels[0].step, ElementsAre(3, 2));
}

TEST(Selection, StepsAreThoseOfLabels) {
  EXPECT_THAT(ValuesOf(kSteps, "v(2:8:6)(-1:4:4)"),
              ElementsAre(19, 23, 79, 83));
  EXPECT_EQ(Select(kSteps, {"v(2:8:2)(1)"}).words,
            "--output: error[D014]: v(t)(k) has t = 2:8:3\n"
            "   | v(2:8:2)(1)\n"
            "   |   ^^^\n");
}

TEST(Selection, OfAnIndexBetweenIsRefused) {
  EXPECT_EQ(
      Select(kSteps, {"v(4)(1)", "v(2:8)(:)", "v(2)(0)", "v(9)(1)"}).words,
      "--output: error[D014]: v(t)(k) has t = 2:8:3\n"
      "   | v(4)(1)\n"
      "   |   ^\n"
      "--output: error[D014]: v(t)(k) has t = 2:8:3\n"
      "   | v(2:8)(:)\n"
      "   |   ^^^\n"
      "--output: error[D014]: v(t)(k) has k = -1:3:2\n"
      "   | v(2)(0)\n"
      "   |      ^\n"
      "--output: error[D014]: v(t)(k) has t = 2:8:3\n"
      "   | v(9)(1)\n"
      "   |   ^\n");
}

// Whatever the file, the job is the same; and a result with a file keeps a view
// of its own.
TEST(Selection, FilesAreOfTheirResults) {
  std::string text = kRing;
  text += "result u(:)(T)\nresult u( 2:4 )(T) to \"out/u.npy\"\n";
  const Outcome out = Select(text, {"u(:)(1)"});
  ASSERT_TRUE(out.status.ok()) << out.words;
  ASSERT_EQ(out.files.size(), 1u);
  const ResultFile& file = out.files[0];
  EXPECT_EQ(file.path, "out/u.npy");
  EXPECT_EQ(file.text, "u(2:4)(T)");
  EXPECT_EQ(file.array, "u");
  EXPECT_EQ(file.place, "test.dog:25:8");
  EXPECT_THAT(file.labels.lower, ElementsAre(2, 4));
  EXPECT_THAT(file.labels.upper, ElementsAre(4, 4));
  const ResultView& view = out.job.program.views[file.labels.view];
  EXPECT_THAT(view.lower, ElementsAre(2, 4));
  const size_t name = text.find("out/u.npy");
  text.replace(name, 9, "another.png");
  EXPECT_EQ(Select(text, {"u(:)(1)"}).job.Encode(), out.job.Encode());
}

// The text that a job is known by: with what it includes, whatever is selected.
TEST(Selection, TheTextIsThatOfAllFiles) {
  std::string part = kRing;
  const auto source = [&part](std::vector<std::string> selections) {
    CompileOptions options = Options();
    options.selections = selections;
    options.read_file = [&part](const std::string&) { return part; };
    Diagnostics diagnostics("", "");
    const absl::StatusOr<Job> job =
        Compile("include \"ring.dog\"\nresult u(:)(T) to \"u.npy\"\n", options,
                KernelRegistry(), diagnostics);
    EXPECT_TRUE(job.ok()) << diagnostics.ToString();
    const absl::string_view own = WithoutSelections(job->source, selections);
    return std::string(own.data(), own.size());
  };
  const std::string own = source({});
  EXPECT_EQ(own, std::string(kRing) + "result u(:)(T) to \n");
  EXPECT_EQ(source({"u(:)(1)", "u(3)(3)"}), own);
  part += "# another\n";
  EXPECT_NE(source({"u(:)(1)"}), own);
}

TEST(Selection, WrongOnesAreSaidInTheirOwnText) {
  const Outcome beyond =
      Select(kRing, {"u(:)(1)", "u(8:12)(2)", "u(1)", "v(1)(1)", "u(-1)(5)"});
  EXPECT_EQ(beyond.status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(beyond.words,
            "--output: error[D014]: u(x)(t) has x = 0:9\n"
            "   | u(8:12)(2)\n"
            "   |   ^^^^\n"
            "--output: error[D016]: u has 2 indices on line 5, and here 1\n"
            "   | u(1)\n"
            "   | ^^^^\n"
            "--output: error[D012]: nothing creates v\n"
            "   | v(1)(1)\n"
            "   | ^^^^^^^\n"
            "--output: error[D014]: u(x)(t) has x = 0:9\n"
            "   | u(-1)(5)\n"
            "   |   ^^\n"
            "--output: error[D014]: u(x)(t) has t = 0:4\n"
            "   | u(-1)(5)\n"
            "   |       ^\n");
  EXPECT_EQ(Select(kRing, {"w"}).words,
            "--output: error[D015]: the program has no result w\n"
            "   | w\n"
            "   | ^\n"
            "   = help: it has u\n");
}

// Errors of the program are told as ever.
TEST(Selection, DoesNotHideWhatIsWrongWithTheProgram) {
  std::string text = kRing;
  text.replace(text.find("periodic(x)"), 11, "0 where x < 0");
  const Outcome out = Select(text, {"u(50)(1)"});
  EXPECT_EQ(out.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(out.words, Select(text, {}).words);
  EXPECT_NE(out.words, "");
}

TEST(Selection, OfALoopsEndIsOneStep) {
  const Outcome out = Select(ReadApp("jacobi/jacobi.dog"), {"u", "change"});
  ASSERT_TRUE(out.status.ok()) << out.words;
  EXPECT_THAT(out.labels[0].lower, ElementsAre(0, 1, 20000));
  EXPECT_THAT(out.labels[0].upper, ElementsAre(23, 22, 20000));
  EXPECT_THAT(out.labels[1].lower, ElementsAre(20000));
}

TEST(Selection, OfALoopsEndMayRunBackwards) {
  const Outcome out = Select(
      "repeat T = 4:60:4 until u(1)(T) < 0\nboundary u(x)(0) = x\n"
      "task step creates u(x)(t) as n for x = 0:9 t = 1:T using u(x)(t-1) as c"
      "\ncode\nn = c - 0.25\nend code\nend task\n"
      "result u(x)(T-x) for x = 0:3\n",
      {"u"});
  ASSERT_TRUE(out.status.ok()) << out.words;
  EXPECT_THAT(out.labels[0].lower, ElementsAre(0, 57));
  EXPECT_THAT(out.labels[0].upper, ElementsAre(3, 60));
}

TEST(Selection, OfALoopIsWhatItsFirstRoundHas) {
  const Outcome out =
      Select(ReadApp("jacobi/jacobi.dog"), {"u(3)(4:9)(50)", "u(:)(:)(100)"});
  EXPECT_EQ(out.status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(out.words, testing::StartsWith("--output: error[D027]"));
  EXPECT_THAT(out.words, testing::HasSubstr("   | u(:)(:)(100)\n"
                                            "   | ^^^^^^^^^^^^\n"));
}

}  // namespace
}  // namespace dogged::dsl

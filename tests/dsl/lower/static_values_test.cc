// Aim: values that are known before the first task change no bit, are no labels
// for tasks by points, and stay labels where something else than code has them.
// Method: the same programs with and without results of their static arrays,
// which keep these as labels; counts of tasks and uses; simulated agents of
// which some crash.
#include <algorithm>

#include "tests/dsl/compile_tools.h"
#include "tests/dsl/repeat_tools.h"

namespace dogged::dsl {
namespace {

using testing::HasSubstr;

// A and B are formulas or files.
constexpr absl::string_view kMultiply = R"(
param N = 6
input A(i)(k) for i = 0:N-1  k = 0:N-1 else sin(1.0*i*k)
input B(k)(j) for k = 0:N-1  j = 0:N-1 else exp(0.1*k - j)
boundary C(i)(j)(0) = 0.1*i*j
task update
  creates C(i)(j)(k+1) as n
  for i = 0:N-1  j = 0:N-1  k = 0:N-1
  using
    C(i)(j)(k) as c
    A(i)(k) as a
    B(k)(j) as b
  code
    n = c + 1.5*a*b
  end code
end task
result C(:)(:)(N)
)";

// Static arrays of several makers, of other static arrays, in steps, read with
// and without a condition, mirrored and out of order.
constexpr absl::string_view kManySorts = R"(
param N = 12
array low(i = 0:N) : float
input rows(t)(k) for t = 2:2*N+2:2  k = 0:N
boundary low(i) = 1.0/(i+3)
boundary edge(0)(j) = 3*j
boundary edge(i)(j) = i - 0.1*j where i > 0 and i < j
boundary edge(i)(j) = i/(j+1.0) where i > 0 and i >= j
task twice
  creates both(j)(i) as n
  for i = 0:N  j = 0:N
  using
    low(N-i) as a
    edge(i)(j) as b
  code
    n = a + 2*b
  end code
end task
boundary u(i)(0) = i
task step
  creates u(i)(t+1) as n
  for i = 0:N  t = 0:N-1
  using
    u(i)(t) as c
    both(t)(i) as a
    both(t+1)(i) as d
    rows(2*t+2)(N-i) as r where i % 3 == 1 and t > 0 else 0.5
    low(i-2) as l where i > 1 else 7
  code
    n = 0.5*c + a*d - r/l
  end code
end task
result u(:)(N)
)";

Value File(const Shape& shape) {
  Value out = Value::Allocate(ElementType::kDouble, shape);
  for (int64_t i = 0; i < out.element_count(); ++i) {
    out.mutable_span<double>()[i] = 1.0 / static_cast<double>(i + 3);
  }
  out.Seal();
  return out;
}

CompileOptions ByPoints() {
  CompileOptions options = Options();
  options.coalesce = false;
  return options;
}

CompileOptions ByPointsWithRows() {
  CompileOptions options = ByPoints();
  options.inputs["rows"] = File({13, 13});
  return options;
}

const TaskClass& ClassOf(const Program& program, absl::string_view name) {
  const auto it =
      std::find_if(program.classes.begin(), program.classes.end(),
                   [name](const TaskClass& c) { return c.name == name; });
  EXPECT_NE(it, program.classes.end()) << name;
  return *it;
}

TEST(StaticValues, AreNoLabels) {
  CompileOptions options = ByPoints();
  for (const bool has_files : {false, true}) {
    if (has_files) {
      options.inputs["A"] = options.inputs["B"] = File({6, 6});
    }
    const Program program =
        MustCompile(std::string(kMultiply), options).program;
    EXPECT_EQ(program.TaskCount(), 6 * 6 * 7);
    EXPECT_EQ(ClassOf(program, "update").uses.size(), 1u);
  }
  const Program program =
      MustCompile(std::string(kManySorts), ByPointsWithRows()).program;
  EXPECT_EQ(program.TaskCount(), 13 * 13);
  EXPECT_EQ(ClassOf(program, "step").uses.size(), 1u);
}

TEST(StaticValues, StayLabelsWhereSomethingElseThanCodeHasThem) {
  const auto use_count = [](absl::string_view more) {
    const Program program =
        MustCompile(absl::StrCat(kMultiply, more), ByPoints()).program;
    return ClassOf(program, "update").uses.size();
  };
  EXPECT_EQ(use_count("result A(:)(2)\n"), 2u);
  EXPECT_EQ(use_count("reduce s = sum(B(i)(i)) over i = 0:N-1\nresult s\n"),
            2u);
  EXPECT_EQ(use_count("task last creates d as n using A(0)(0) as a B(1)(1) as "
                      "b code n = a*b end code end task result d\n"),
            1u);
}

TEST(StaticValues, AreLabelsInADrawing) {
  CompileOptions options = ByPoints();
  options.static_labels = true;
  const Program program = MustCompile(std::string(kMultiply), options).program;
  EXPECT_EQ(ClassOf(program, "update").uses.size(), 3u);
}

TEST(StaticValues, ChangeNoBit) {
  const KernelCache cache;
  const std::string text(kManySorts);
  const CompileOptions options = ByPointsWithRows();
  const std::string as_labels = absl::StrCat(
      text, "result low\nresult edge\nresult both\nresult rows(:)(0)\n");
  const SerialOutcome expected = MustRun(as_labels, options);
  const SerialOutcome out = MustRun(text, options);
  ASSERT_EQ(out.values.size(), 1u);
  ASSERT_EQ(expected.values.size(), 5u);
  EXPECT_EQ(out.values[0].view(), expected.values[0].view());
  ExpectOneDigest(text, options, TileShape{.widths = {5}, .depth = 3},
                  cache.Source());
  ExpectOneDigest(std::string(kMultiply), ByPoints(),
                  TileShape{.widths = {2, 3}, .depth = 2}, cache.Source());
}

// Chunks that are not all of the array.
TEST(StaticValues, AreReadFromChunks) {
  Job job = MustCompile(std::string(kManySorts), ByPointsWithRows());
  const std::string expected = MustDigest(job, nullptr);
  class Chunks : public ChunkSource {
   public:
    explicit Chunks(JobInput input) : input_(std::move(input)) {}
    Value Find(const ChunkId& chunk) const override {
      const DenseBox box = input_.grid.BoxOf(chunk.index);
      Value out = Value::Allocate(ElementType::kDouble, box.extents);
      input_.CopyChunk(chunk.index, static_cast<char*>(out.mutable_data()));
      out.Seal();
      return out;
    }

   private:
    const JobInput input_;
  };
  ASSERT_EQ(job.inputs.size(), 1u);
  job.inputs[0].Cut({4, 5});
  job.chunk_source = std::make_shared<Chunks>(job.inputs[0]);
  job.inputs[0].content = Value();
  EXPECT_EQ(MustDigest(job, nullptr), expected);
}

TEST(StaticValues, OfAnInputThatDoesNotFitAreRefused) {
  Job job = MustCompile(std::string(kManySorts), ByPointsWithRows());
  const auto refusal = [&job](const Value& content) {
    job.inputs[0].content = content;
    return std::string(
        LoadKernels(job, KernelRegistry(), nullptr).status().message());
  };
  EXPECT_THAT(refusal(File({13})), HasSubstr("where one of 2 indices"));
  EXPECT_THAT(refusal(Value::Allocate(ElementType::kInt64, {13, 13})),
              HasSubstr("type double is read"));
  job.inputs[0].content = File({13, 11});
  const std::string reason(
      DigestOf(job, KernelRegistry(), nullptr).status().message());
  EXPECT_THAT(reason, HasSubstr("reads element 11 of an input with 11"));
}

TEST(StaticValues, SurviveAllFaults) {
  const Job job = MustCompile(std::string(kManySorts), ByPointsWithRows());
  const SimOptions options{.faults = ManyFaults(),
                           .fault_span = absl::Seconds(1)};
  Simulate(job, options, 15);
  SimOptions search{.agents = 3};
  search.job.search_only = true;
  search.faults = {.crash = 1, .join = 1};
  search.fault_span = absl::Seconds(1);
  Simulate(job, search, 3);
}

// A file that does not travel in the job: chunks come before the tasks start.
TEST(StaticValues, ComeInChunksToAgentsUnderFaults) {
  CompileOptions options = ByPoints();
  options.parameters = {{"M", "300"}};
  options.inputs["w"] = File({301, 301});
  Job job = MustCompile(R"(
param M = 300
input w(i)(j) for i = 0:M  j = 0:M
boundary u(i)(0) = i
task step
  creates u(i)(t+1) as n
  for i = 0:9  t = 0:9
  using
    u(i)(t) as c
    w(33*i)(30*t) as f
  code
    n = 0.5*c + f
  end code
end task
result u(:)(10)
)",
                        options);
  job.CutInputs();
  ASSERT_TRUE(job.inputs[0].IsInChunks());
  const SimOptions sim{
      .faults = ManyFaults(), .fault_span = absl::Seconds(1), .inputs = &job};
  Simulate(job, sim, 8);
}

}  // namespace
}  // namespace dogged::dsl

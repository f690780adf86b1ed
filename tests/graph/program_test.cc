// Aim: a program that is malformed, in memory or in bytes, is refused.
// Method: one breakage a case; every truncation of the bytes; bit flips.
#include "runtime/graph/program.h"

#include <memory>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "runtime/base/random.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/job.h"

namespace dogged {
namespace {

Program Wavefront(int64_t n) {
  ProgramBuilder b("wavefront");
  const int32_t w = b.AddArray({.name = "w", .rank = 2, .version_index = 1});
  const int32_t kernel = b.AddKernel({"add", "test", "body"});
  const AffineExpr i = AffineExpr::Index(0);
  const AffineExpr j = AffineExpr::Index(1);
  const AffineExpr one = AffineExpr::Constant(1);
  const Guard has_left{{{{.expr = i - one}}}};
  const Guard has_upper{{{{.expr = j - one}}}};
  b.AddClass(
      {.name = "step",
       .domain = Domain::Box({{"i", 0, n - 1}, {"j", 0, n - 1}}),
       .creates = {{w, {i, j}}},
       .uses = {{w, {i - one, j}, has_left}, {w, {i, j - one}, has_upper}},
       .kernel = kernel,
       .priority = (i + j) * -1});
  b.AddResult(w, Domain::Box({{"i", n - 1, n - 1}, {"j", n - 1, n - 1}}));
  b.SetEveryTaskNeeded();
  return *std::move(b).Build();
}

TEST(Program, RoundTripsThroughBytes) {
  Job job{.program = Wavefront(5), .source = "text"};
  job.parameters = {{"N", "5"}};
  job.inputs.push_back({"A", Value::Scalar(2)});
  const std::string bytes = job.Encode();
  const auto back = Job::Decode(bytes);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->Encode(), bytes);
  EXPECT_EQ(back->program.TaskCount(), 25);
  EXPECT_EQ(back->program.TaskText({0, {1, 2}}), "step(1)(2)");
}

// A wavefront whose second use reads row table[j].
Program Gathering(int64_t n, int64_t first) {
  Program out = Wavefront(n);
  auto gather = std::make_shared<Gather>();
  gather->dims = {1};
  gather->lower = {0};
  gather->extents = {n};
  gather->tables = {{.position = 1, .values = {}}};
  for (int64_t j = 0; j < n; ++j) {
    gather->tables[0].values.push_back(j == 0 ? Gather::kNone : first - j);
  }
  Use& use = out.classes[0].uses[1];
  use.map[1] = AffineExpr();
  use.gather = std::move(gather);
  return out;
}

TEST(Program, TablesRoundTripAndCountForTheName) {
  const Job job{.program = Gathering(5, 3), .source = "text"};
  EXPECT_TRUE(job.program.Validate().ok());
  const std::string bytes = job.Encode();
  const auto back = Job::Decode(bytes);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->Encode(), bytes);
  EXPECT_EQ(*back->program.classes[0].uses[1].gather,
            *job.program.classes[0].uses[1].gather);
  EXPECT_NE((Job{.program = Gathering(5, 4), .source = "text"}).Encode(),
            bytes);
  // Agents of the release before read what has no tables.
  EXPECT_EQ(bytes.substr(0, 12), "dogged-job-6");
  EXPECT_EQ((Job{.program = Wavefront(5)}).Encode().substr(0, 12),
            "dogged-job-5");
}

TEST(Program, TablesThatDoNotFitAreRefused) {
  const auto expect_refused = [](const char* what, auto change) {
    Program program = Gathering(5, 3);
    Use& use = program.classes[0].uses[1];
    auto gather = std::make_shared<Gather>(*use.gather);
    change(*gather);
    use.gather = std::move(gather);
    EXPECT_FALSE(program.Validate().ok()) << what;
    Encoder out;
    program.Encode(out);
    program.EncodeGathers(out);
  };
  expect_refused("index", [](Gather& g) { g.dims = {2}; });
  expect_refused("position", [](Gather& g) { g.tables[0].position = 2; });
  expect_refused("length", [](Gather& g) { g.tables[0].values.pop_back(); });
  expect_refused("none", [](Gather& g) { g.tables.clear(); });
  expect_refused("box", [](Gather& g) { g.lower = {1}; });
  expect_refused("twice", [](Gather& g) { g.tables.push_back(g.tables[0]); });
  expect_refused("size", [](Gather& g) { g.extents = {int64_t{1} << 40}; });
}

// The hash of the bytes is a job's name, and finds its values again.
TEST(Job, IsNamedByAllThatDecidesBits) {
  Job job{.program = Wavefront(5), .source = "text"};
  job.parameters = {{"N", "5"}};
  job.inputs.push_back({"A", Value::Scalar(2)});
  std::set<std::string> names = {job.Encode()};
  const auto expect_other = [&](const char* what, auto change) {
    Job other = job;
    change(other);
    EXPECT_TRUE(names.insert(other.Encode()).second) << what;
  };
  expect_other("program", [](Job& j) { j.program = Wavefront(6); });
  expect_other("kernel",
               [](Job& j) { j.program.kernels[0].body = "another body"; });
  expect_other("parameter", [](Job& j) { j.parameters[0].second = "6"; });
  expect_other("input", [](Job& j) { j.inputs[0].content = Value::Scalar(3); });
  expect_other("class", [](Job& j) { j.numeric_class = "avx2"; });
  expect_other("lowering", [](Job& j) { j.lowering = "tiles of 5"; });
}

TEST(Program, TruncatedOrChangedBytesNeverCrash) {
  for (const bool has_tables : {false, true}) {
    const Job job{.program = has_tables ? Gathering(5, 3) : Wavefront(5)};
    const std::string bytes = job.Encode();
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(Job::Decode(absl::string_view(bytes).substr(0, size)).ok());
    }
    Rng rng(1);
    for (int i = 0; i < 5000; ++i) {
      std::string changed = bytes;
      const auto at = static_cast<size_t>(rng.Below(std::ssize(bytes)));
      changed[at] = static_cast<char>(rng.Next());
      (void)Job::Decode(changed);  // any answer, but an answer
    }
  }
}

TEST(Program, ACreateMapMustBeInjective) {
  Program program = Wavefront(5);
  program.classes[0].creates[0].map[1] = AffineExpr::Index(0);
  EXPECT_THAT(std::string(program.Validate().message()),
              testing::HasSubstr("two tasks create one label"));
}

TEST(Program, RanksAndPositionsAreChecked) {
  Program program = Wavefront(5);
  program.classes[0].uses[0].map.pop_back();
  EXPECT_THAT(std::string(program.Validate().message()),
              testing::HasSubstr("w has 2 indices, not 1"));
  program = Wavefront(5);
  program.classes[0].kernel = 7;
  EXPECT_FALSE(program.Validate().ok());
  program = Wavefront(5);
  program.classes[0].domain.dimensions[0].upper[0].expr = AffineExpr::Index(1);
  EXPECT_FALSE(program.Validate().ok());
}

}  // namespace
}  // namespace dogged

// Aim: a run in one process gives the serial values, runs what is needed and
// nothing twice, and ends in every case.
// Method: small programs at several worker counts against plain loops; kernels
// that fail; a start limit that holds everything back.
#include "runtime/exec/local_run.h"

#include <malloc.h>

#include <algorithm>
#include <map>
#include <vector>

#include "gmock/gmock.h"
#include "tests/exec/programs.h"

namespace dogged {
namespace {

struct Outcome {
  absl::Status status;
  LocalProgress progress;
  int64_t needed = 0;
  std::map<Label, double> results;
};

Outcome RunOf(const Program& program, int workers, const KernelTable& kernels,
              int64_t start_bytes_max = int64_t{1} << 30) {
  const Relations relations(program);
  Outcome out;
  LocalRun run(
      relations, kernels,
      {.placement = PlaceWorkers(FlatCpuLayout(2), workers),
       .start_bytes_max = start_bytes_max,
       .on_result = [&](const Label& label, const Value& value) {
         EXPECT_FALSE(value.digest().IsZero());
         EXPECT_TRUE(
             out.results.emplace(label, value.span<double>()[0]).second);
         return absl::OkStatus();
       }});
  out.status = run.Run();
  out.progress = run.Progress();
  out.needed = run.needed_count();
  return out;
}

double SerialCorner(int64_t n) {
  std::vector<double> row(static_cast<size_t>(n), 0);
  for (int64_t i = 0; i < n; ++i) {
    double left = 0;
    for (double& w : row) {
      w = 1 + (i > 0 ? w : 0) + left;
      left = w;
    }
  }
  return row.back();
}

TEST(LocalRun, GivesTheSerialCornerOfAWavefront) {
  for (const int workers : {1, 2, 4, 9}) {
    for (const int64_t n : {1, 2, 17, 100}) {
      const Outcome out = RunOf(Wavefront(n), workers, OneKernel(AddUp));
      ASSERT_TRUE(out.status.ok()) << out.status.message();
      EXPECT_EQ(out.progress.tasks_executed, n * n);
      EXPECT_EQ(out.progress.flops, static_cast<double>(n * n));
      EXPECT_EQ(out.needed, n * n);
      ASSERT_EQ(out.results.size(), 1u);
      EXPECT_EQ(out.results.begin()->second, SerialCorner(n));
    }
  }
  EXPECT_EQ(Value::LiveBytes(), 0);
}

// Heap bytes in use; 0 under a sanitizer, which has a heap of its own.
int64_t HeapBytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<int64_t>(heap.uordblks + heap.hblkhd);
}

TEST(LocalRun, ReleasesManyConsumersInBoundedMemory) {
  constexpr int64_t kWidth = 200'000;
  const Program program = WideRelease(kWidth);
  const Relations relations(program);
  const KernelTable kernels = OneKernel(AddUp);
  const int64_t before = HeapBytes();
  int64_t peak = 0;
  int64_t results = 0;
  LocalRun run(relations, kernels,
               {.placement = PlaceWorkers(FlatCpuLayout(2), 2),
                .on_result = [&](const Label&, const Value&) {
                  if (++results % 1000 == 0) peak = std::max(peak, HeapBytes());
                  return absl::OkStatus();
                }});
  ASSERT_TRUE(run.Run().ok());
  EXPECT_EQ(run.Progress().tasks_executed, kWidth + 1);
  EXPECT_LT(peak - before, 4 << 20);
}

TEST(LocalRun, HoldsNoMoreThanTheFrontierOfAWavefront) {
  constexpr int64_t kN = 400;
  const Program program = Wavefront(kN);
  const Relations relations(program);
  const int64_t before = HeapBytes();
  std::atomic<int64_t> peak{0};
  const KernelTable kernels = OneKernel([&](KernelCall& call) {
    if (call.task.index[1] == kN / 2) {
      peak = std::max(peak.load(), HeapBytes());
    }
    return AddUp(call);
  });
  LocalRun run(relations, kernels,
               {.placement = PlaceWorkers(FlatCpuLayout(2), 2)});
  ASSERT_TRUE(run.Run().ok());
  EXPECT_LT(peak.load() - before, kN * 1300);
}

TEST(LocalRun, RunsOnlyWhatTheResultsNeed) {
  for (const int workers : {1, 3}) {
    const Outcome out =
        RunOf(Stencil(30, 20, 10, 4), workers, OneKernel(AddUp));
    ASSERT_TRUE(out.status.ok()) << out.status.message();
    EXPECT_EQ(out.results.size(), 5u);
    EXPECT_EQ(out.progress.tasks_executed, out.needed);
    EXPECT_EQ(out.needed, 5 * 11 + 10 * 11 / 2);
  }
}

TEST(LocalRun, StartsLeavesWhenNothingElseCanRun) {
  const Outcome out = RunOf(Stencil(40, 10, 10, 39), 2, OneKernel(AddUp),
                            /*start_bytes_max=*/0);
  ASSERT_TRUE(out.status.ok()) << out.status.message();
  EXPECT_EQ(out.progress.tasks_executed, 40 * 11);
}

// Chains from many leaves, where a later step is far less urgent.
TEST(LocalRun, NoChainRunsFarAheadOfTheOthers) {
  constexpr int64_t kChains = 20;
  constexpr int64_t kSteps = 10;
  ProgramBuilder b("chains");
  const int32_t u = b.AddArray({.name = "u", .rank = 2});
  const AffineExpr i = AffineExpr::Index(0);
  const AffineExpr t = AffineExpr::Index(1);
  const AffineExpr one = AffineExpr::Constant(1);
  b.AddClass({.name = "step",
              .domain = Domain::Box({{"i", 0, kChains}, {"t", 0, kSteps}}),
              .creates = {{u, {i, t}}},
              .uses = {{u, {i, t - one}, AtLeastZero(t - one)}},
              .kernel = b.AddKernel({"add", "test", ""}),
              .priority = t * -1000});
  b.AddResult(u, Domain::Box({{"i", 0, kChains}, {"t", kSteps, kSteps}}));
  b.SetEveryTaskNeeded();
  std::vector<int64_t> steps;
  const KernelTable kernels = OneKernel([&steps](KernelCall& call) {
    steps.push_back(call.task.index[1]);
    return AddUp(call);
  });
  const Outcome out = RunOf(std::move(b).Build().value(), 1, kernels);
  ASSERT_TRUE(out.status.ok()) << out.status.message();
  EXPECT_EQ(std::ssize(steps), (kChains + 1) * (kSteps + 1));
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
}

TEST(LocalRun, EndsAtTheFirstErrorAndNamesTheTask) {
  const KernelTable kernels = OneKernel([](KernelCall& call) -> absl::Status {
    if (call.task.index == IndexVector{3, 4}) {
      return absl::InvalidArgumentError("pivot 17 is -1");
    }
    return AddUp(call);
  });
  const Outcome out = RunOf(Wavefront(50), 2, kernels);
  EXPECT_EQ(out.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(out.status.message(), "task step(3)(4): pivot 17 is -1");
  EXPECT_TRUE(out.results.empty());
}

TEST(LocalRun, CanBeCancelled) {
  const Program program = Wavefront(1'000'000);
  const Relations relations(program);
  const KernelTable kernels = OneKernel(AddUp);
  LocalRun run(relations, kernels,
               {.placement = PlaceWorkers(FlatCpuLayout(2), 2)});
  int polls = 0;
  const absl::Status status = run.Run(
      absl::Milliseconds(5), [&](const LocalProgress&) { return ++polls < 3; });
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(polls, 3);
}

TEST(LocalRun, SaysSoWhenAResultCanNotBeReached) {
  ProgramBuilder b("stuck");
  const int32_t a = b.AddArray({.name = "a", .rank = 1});
  const AffineExpr i = AffineExpr::Index(0);
  b.AddClass({.name = "step",
              .domain = Domain::Box({{"i", 0, 9}}),
              .creates = {{a, {i}}},
              .uses = {{a, {i - AffineExpr::Constant(1)}, {}}},
              .kernel = b.AddKernel({"add", "test", ""})});
  b.AddResult(a, Domain::Box({{"i", 0, 9}}));
  b.SetEveryTaskNeeded();
  const Program program = std::move(b).Build().value();
  const Outcome out = RunOf(program, 3, OneKernel(AddUp));
  EXPECT_EQ(out.status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(out.status.message()),
              testing::HasSubstr("10 of 10 results are unbound"));
}

// Also results that a worker has not yet told the others of when the run ends.
TEST(LocalRun, ReportsAsManyResultsAsThereAre) {
  constexpr int64_t kWidth = 5000;
  const Program program = WideRelease(kWidth);
  const Relations relations(program);
  const KernelTable kernels = OneKernel(AddUp);
  for (const int workers : {1, 2, 5}) {
    for (const bool delivers : {false, true}) {
      int64_t delivered = 0;
      LocalRunOptions options{.placement =
                                  PlaceWorkers(FlatCpuLayout(2), workers)};
      if (delivers) {
        options.on_result = [&delivered](const Label&, const Value&) {
          ++delivered;
          return absl::OkStatus();
        };
      }
      LocalRun run(relations, kernels, options);
      const absl::Status status = run.Run();
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(run.Progress().results_bound, kWidth);
      EXPECT_EQ(run.Progress().tasks_executed, kWidth + 1);
      EXPECT_EQ(delivered, delivers ? kWidth : 0);
    }
  }
}

TEST(LocalRun, ReportsAsManyResultsAsItDeliveredBeforeAnError) {
  constexpr int64_t kGood = 700;
  const Program program = WideRelease(5000);
  const Relations relations(program);
  const KernelTable kernels = OneKernel(AddUp);
  int64_t delivered = 0;
  LocalRun run(relations, kernels,
               {.placement = PlaceWorkers(FlatCpuLayout(2), 3),
                .on_result = [&](const Label&, const Value&) -> absl::Status {
                  if (delivered == kGood) return absl::DataLossError("full");
                  ++delivered;
                  return absl::OkStatus();
                }});
  EXPECT_EQ(run.Run().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(delivered, kGood);
  EXPECT_EQ(run.Progress().results_bound, kGood);
}

// Each task reads a label of its row and a label of its column, both of which
// very many read: some get ready at once, some as the second label comes.
TEST(LocalRun, RunsEachConsumerOfRowsAndColumnsOnce) {
  constexpr int64_t kN = 700;
  ProgramBuilder b("rows_and_columns");
  const int32_t row = b.AddArray({.name = "row", .rank = 1});
  const int32_t column = b.AddArray({.name = "column", .rank = 1});
  const int32_t sum = b.AddArray({.name = "sum", .rank = 2});
  const AffineExpr i = AffineExpr::Index(0);
  const AffineExpr j = AffineExpr::Index(1);
  const int32_t add = b.AddKernel({"add", "test", ""});
  for (const int32_t array : {row, column}) {
    b.AddClass({.name = "start",
                .domain = Domain::Box({{"i", 0, kN - 1}}),
                .creates = {{array, {i}}},
                .kernel = add});
  }
  Domain triangle = Domain::Box({{"i", 0, kN - 1}, {"j", 0, kN - 1}});
  triangle.dimensions[1].upper.push_back({.expr = i});
  b.AddClass({.name = "both",
              .domain = triangle,
              .creates = {{sum, {i, j}}},
              .uses = {{row, {i}, {}}, {column, {j}, {}}},
              .kernel = add});
  b.AddResult(sum, triangle);
  b.SetEveryTaskNeeded();
  const Program program = std::move(b).Build().value();
  for (const int workers : {1, 3}) {
    const Outcome out = RunOf(program, workers, OneKernel(AddUp));
    ASSERT_TRUE(out.status.ok()) << out.status.message();
    EXPECT_EQ(out.progress.tasks_executed, 2 * kN + kN * (kN + 1) / 2);
    ASSERT_EQ(std::ssize(out.results), kN * (kN + 1) / 2);
    for (const auto& [label, value] : out.results) ASSERT_EQ(value, 3);
  }
}

TEST(LocalRun, DeliversAResultOfTwoSetsOnce) {
  ProgramBuilder b("twice");
  const int32_t a = b.AddArray({.name = "a", .rank = 1});
  b.AddClass({.name = "step",
              .domain = Domain::Box({{"i", 0, 9}}),
              .creates = {{a, {AffineExpr::Index(0)}}},
              .kernel = b.AddKernel({"add", "test", ""})});
  b.AddResult(a, Domain::Box({{"i", 0, 9}}));
  b.AddResult(a, Domain::Box({{"i", 5, 5}}));
  const Program program = std::move(b).Build().value();
  const Outcome out = RunOf(program, 2, OneKernel(AddUp));
  ASSERT_TRUE(out.status.ok()) << out.status.message();
  EXPECT_EQ(out.results.size(), 10u);
  EXPECT_EQ(out.progress.results_bound, 11);
}

}  // namespace
}  // namespace dogged

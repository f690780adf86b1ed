// Aim: labels that are read by tables of indices are those that the values of
// the tables name, whichever way the program runs, and what can't be named is
// an error at its place.
// Method: sparse products, permutations, a butterfly and receivers in a stencil
// against loops written here; simulated agents with crashes.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "dsl/lower/index_tables.h"
#include "gmock/gmock.h"
#include "runtime/sim/cluster.h"
#include "tests/dsl/compile_tools.h"
#include "tests/dsl/lower/table_programs.h"
#include "tests/sim/serial.h"

namespace dogged::dsl {
namespace {

using testing::HasSubstr;

Value Int64s(const Shape& shape, const std::vector<int64_t>& numbers) {
  Value out = Value::Allocate(ElementType::kInt64, shape);
  std::copy(numbers.begin(), numbers.end(),
            out.mutable_span<int64_t>().begin());
  return out;
}

std::vector<double> DoublesOf(const Value& value) {
  const auto span = value.span<double>();
  return {span.begin(), span.end()};
}

// x(t) = A x(t-1) / 8 with a sparse A, in rows of K entries.
constexpr char kSparse[] = R"(
param N = 60
param K = 4
param T = 5
array col(i = 0:N-1)(k = 0:K-1) : int64
input col(i)(k) for i = 0:N-1  k = 0:K-1
input x(i)(0) for i = 0:N-1 else 1 + i % 3
task multiply
  creates part(i)(k)(t) as s
  for i = 0:N-1  k = 0:K-1  t = 1:T
  using
    part(i)(k-1)(t) as before where k > 0 else 0
    x(col(i)(k))(t-1) as b
  code
    s = before + b*(1 + k)
  end code
end task
task next
  creates x(i)(t) as n
  for i = 0:N-1  t = 1:T
  using part(i)(K-1)(t) as p
  code
    n = 0.125*p
  end code
end task
result x(:)(T)
)";

std::vector<int64_t> RandomColumns(int64_t n, int64_t k, uint64_t seed) {
  Rng rng(seed);
  std::vector<int64_t> out;
  for (int64_t i = 0; i < n * k; ++i) out.push_back(rng.Below(n));
  return out;
}

std::vector<double> SparseByLoops(const std::vector<int64_t>& col, int64_t n,
                                  int64_t k, int64_t steps) {
  std::vector<double> x;
  for (int64_t i = 0; i < n; ++i) x.push_back(static_cast<double>(1 + i % 3));
  for (int64_t t = 0; t < steps; ++t) {
    std::vector<double> next;
    for (int64_t i = 0; i < n; ++i) {
      double s = 0;
      for (int64_t j = 0; j < k; ++j) {
        s +=
            x[col[static_cast<size_t>(i * k + j)]] * static_cast<double>(1 + j);
      }
      next.push_back(0.125 * s);
    }
    x = std::move(next);
  }
  return x;
}

TEST(Gather, ASparseProductReadsTheColumnsOfItsFile) {
  const KernelCache cache;
  const std::vector<int64_t> col = RandomColumns(60, 4, 1);
  CompileOptions options = Options();
  options.inputs["col"] = Int64s({60, 4}, col);
  const SerialOutcome out = MustRun(kSparse, options);
  EXPECT_EQ(DoublesOf(out.values[0]), SparseByLoops(col, 60, 4, 5));
  const Job job = MustCompile(kSparse, options);
  EXPECT_THAT(job.lowering, HasSubstr("task multiply reads labels by indices"));
  EXPECT_EQ(MustDigest(job, cache.Source()), out.digest.ToString());
  // Its elements are in the tables: nobody reads its labels.
  EXPECT_TRUE(job.inputs.empty());
  EXPECT_FALSE(
      job.program.FindArray("col").has_value() &&
      Relations(job.program)
          .ProducerOf({.array = *job.program.FindArray("col"), .index = {0, 0}})
          .has_value());
}

TEST(Gather, AgentsThatDieLoseNothingOfASparseProduct) {
  CompileOptions options = Options();
  options.inputs["col"] = Int64s({60, 4}, RandomColumns(60, 4, 2));
  options.target = {.agents = 4, .workers = 1};
  const Job job = MustCompile(kSparse, options);
  const auto back = Job::Decode(job.Encode());
  ASSERT_TRUE(back.ok()) << back.status();
  const auto load = [](const Job& of) -> absl::StatusOr<LoadedKernels> {
    auto table = LoadKernels(of, KernelRegistry(), nullptr);
    if (!table.ok()) return table.status();
    return LoadedKernels(*std::move(table));
  };
  const std::map<Label, Digest> expected = SerialResults(job, load);
  EXPECT_EQ(expected.size(), 60u);
  const auto [first, last] = SeedRange(12);
  for (int64_t seed = first; seed <= last; ++seed) {
    SimOptions sim{.agents = 4,
                   .gathers_first = true,
                   .seed = static_cast<uint64_t>(seed),
                   .faults = {.crash = 2, .join = 1}};
    const SimOutcome out = Cluster(sim, back->Encode(), load).Run();
    EXPECT_TRUE(out.status.ok()) << "seed " << seed << ": " << out.status;
    EXPECT_EQ(out.results, expected) << "seed " << seed;
  }
}

TEST(Gather, APermutationAndItsInverseGiveTheArrayBack) {
  const std::string text = R"(
param N = 300
array p(i = 0:N-1) : int64
array q(i = 0:N-1) : int64
input p(i) for i = 0:N-1 else (7*i + 3) % N
input q(i) for i = 0:N-1 else (43*(i - 3)) % N
input a(i) for i = 0:N-1 else sqrt(i)
task there
  creates b(i) as o
  for i = 0:N-1
  using a(p(i)) as v
  code
    o = v
  end code
end task
task back
  creates c(i) as o
  for i = 0:N-1
  using b(q(i)) as v
  code
    o = v
  end code
end task
result c(:)
)";
  const SerialOutcome out = MustRun(text, Options());
  std::vector<double> expected;
  for (int i = 0; i < 300; ++i) expected.push_back(std::sqrt(i));
  EXPECT_EQ(DoublesOf(out.values[0]), expected);
}

// int64(...) around an expression of indices takes it by its values.
TEST(Gather, AButterflyReadsAtPowersOfTwo) {
  std::vector<double> a;
  for (int i = 0; i < 64; ++i) a.push_back((i * i + 3 * i) % 17);
  for (int half = 1; half < 64; half *= 2) {
    for (int i = 0; i < 64; ++i) {
      if (i % (2 * half) >= half) continue;
      const auto x = static_cast<size_t>(i);
      const auto y = static_cast<size_t>(i + half);
      const double sum = a[x] + a[y];
      a[y] = a[x] - a[y];
      a[x] = sum;
    }
  }
  EXPECT_EQ(DoublesOf(MustRun(kButterfly, Options()).values[0]), a);
}

// A wave along a line, recorded where `rx` says.
std::string Wave(int64_t receivers) {
  return absl::StrCat(R"(
param N = 400
param T = 40
param R = )",
                      receivers, R"(
array rx(r = 0:R-1) : int64
input rx(r) for r = 0:R-1 else (37*r*r + 11*r) % N
boundary u(0)(t)   = 0 where t > 0
boundary u(N-1)(t) = 0 where t > 0
boundary u(x)(0)   = sin(0.1*x)
task step
  creates u(x)(t) as n
  for x = 1:N-2  t = 1:T
  using
    u(x-1)(t-1) as l
    u(x)(t-1)   as c
    u(x+1)(t-1) as r
  code
    n = c + 0.2*(l - 2*c + r)
  end code
end task
task record
  creates seis(r)(t) as s
  for r = 0:R-1  t = 0:T
  using u(rx(r))(t) as v
  code
    s = 2*v
  end code
end task
result seis
result u(:)(T)
)");
}

TEST(Gather, AStencilWithSomeReceiversStaysInTiles) {
  const KernelCache cache;
  std::vector<double> u(400);
  std::vector<std::vector<double>> steps;
  for (size_t x = 0; x < 400; ++x) {
    u[x] = std::sin(0.1 * static_cast<double>(x));
  }
  for (int t = 0; t <= 40; ++t) {
    if (t > 0) {
      std::vector<double> n(400, 0);
      for (size_t x = 1; x < 399; ++x) {
        n[x] = u[x] + 0.2 * (u[x - 1] - 2 * u[x] + u[x + 1]);
      }
      u = n;
    }
    steps.push_back(u);
  }
  for (const int64_t receivers : {1, 9, 300}) {
    std::vector<double> expected;
    for (int64_t r = 0; r < receivers; ++r) {
      const auto x = static_cast<size_t>((37 * r * r + 11 * r) % 400);
      for (const auto& step : steps) expected.push_back(2 * step[x]);
    }
    const std::string text = Wave(receivers);
    EXPECT_EQ(DoublesOf(MustRun(text, Options()).values[0]), expected)
        << receivers;
    ExpectOneDigest(text, Options(), {.widths = {50}, .depth = 7},
                    cache.Source());
    const Job job = MustCompile(text, Options());
    EXPECT_EQ(absl::StartsWith(job.lowering, "chunks of"), receivers > 256)
        << job.lowering;
  }
}

std::string ErrorOf(const std::string& text, CompileOptions options) {
  Diagnostics diagnostics("", "");
  EXPECT_FALSE(Compile(text, options, KernelRegistry(), diagnostics).ok());
  return diagnostics.ToString();
}

TEST(Gather, AnIndexBeyondTheArrayIsNamedWithItsTask) {
  std::vector<int64_t> col = RandomColumns(60, 4, 3);
  col[4 * 17 + 2] = 60;
  CompileOptions options = Options();
  options.inputs["col"] = Int64s({60, 4}, col);
  const std::string error = ErrorOf(kSparse, options);
  EXPECT_THAT(error, HasSubstr("no task creates x(60)(0), which multiply needs "
                               "at i = 17, k = 2, t = 1"));
  EXPECT_THAT(error, HasSubstr("col(i)(k) is 60 there"));
}

// So that fetch needs no file: the job has it.
TEST(Gather, ATextIsCompiledAgainFromItsJobAlone) {
  CompileOptions options = Options();
  const std::vector<int64_t> col = RandomColumns(60, 4, 5);
  options.inputs["col"] = Int64s({60, 4}, col);
  const auto job = Job::Decode(MustCompile(kSparse, options).Encode());
  ASSERT_TRUE(job.ok()) << job.status();
  options.inputs = IndexFilesOf(job->program);
  ASSERT_TRUE(options.inputs.contains("col"));
  const auto kept = options.inputs["col"].span<int64_t>();
  EXPECT_EQ(std::vector<int64_t>(kept.begin(), kept.end()), col);
  options.may_lack_inputs = true;
  MustCompile(kSparse, options);
  // Without the file nothing is known of the program but what it awaits.
  options.inputs.clear();
  ProgramFacts facts;
  Diagnostics diagnostics("", "");
  const auto awaiting =
      Compile(kSparse, options, KernelRegistry(), diagnostics, nullptr, &facts);
  EXPECT_TRUE(absl::IsFailedPrecondition(awaiting.status()));
  ASSERT_EQ(facts.awaited.size(), 1u);
  EXPECT_EQ(facts.awaited[0].array, "col");
}

// Labels between those that two tables name are not read.
TEST(Gather, TwoTablesReadWithinAnArrayWithSteps) {
  const std::string text = R"(
array q(x = 0:90) : int64
array p(y = 0:90) : int64
input q(x) for x = 0:90 else 2*(x/4) + 3
input p(y) for y = 0:90 else y % 9 + 1
input u(x)(y) for x = 3:47:2  y = 1:9 else 1.0*x + 100*y
task st
  creates b(x)(y) as n
  for x = 3:47:2  y = 1:9
  using u(q(x))(p(y)) as a
  code
    n = a
  end code
end task
result b(x)(y) for x = 3:47:2  y = 1:9
result u(:)(:)
)";
  std::vector<double> expected;
  for (int x = 3; x <= 47; x += 2) {
    for (int y = 1; y <= 9; ++y) {
      expected.push_back(2 * (x / 4) + 3 + 100 * (y % 9 + 1));
    }
  }
  EXPECT_EQ(DoublesOf(MustRun(text, Options()).values[0]), expected);
}

TEST(Gather, AFileThatDoesNotFitIsNamed) {
  CompileOptions options = Options();
  options.inputs["col"] = Int64s({60, 3}, RandomColumns(60, 3, 3));
  EXPECT_THAT(ErrorOf(kSparse, options),
              HasSubstr("whose file has shape (60)(3); declared is (60)(4)"));
  options.inputs["col"] = Value::Allocate(ElementType::kDouble, {60, 4});
  EXPECT_THAT(ErrorOf(kSparse, options), HasSubstr("whose file holds double"));
}

// Where nothing is read, no element has to be there.
TEST(Gather, ElementsThatAreNotReadNeedNotBeThere) {
  const std::string text = R"(
param N = 300
array next(i = 0:N-2) : int64
input next(i) for i = 0:N-2 else i + 1
input a(i) for i = 0:N-1 else i
task take
  creates b(i) as o
  for i = 0:N-1
  using a(next(i)) as v where i < N-1 else -1
  code
    o = v
  end code
end task
result b(:)
)";
  std::vector<double> expected;
  for (int i = 1; i < 300; ++i) expected.push_back(i);
  expected.push_back(-1);
  EXPECT_EQ(DoublesOf(MustRun(text, Options()).values[0]), expected);
}

// Entries may read labels of their own array, in the order that tables give.
TEST(Gather, ATreeIsSummedFromItsLeaves) {
  const std::string text = R"(
param N = 500
array parent(i = 1:N-1) : int64
input parent(i) for i = 1:N-1 else (i - 1)/2
boundary depth(0) = 0
task go
  creates depth(i) as d
  for i = 1:N-1
  using depth(parent(i)) as above
  code
    d = above + 1
  end code
end task
result depth(:)
)";
  std::vector<double> expected = {0};
  for (size_t i = 1; i < 500; ++i) {
    expected.push_back(expected[(i - 1) / 2] + 1);
  }
  EXPECT_EQ(DoublesOf(MustRun(text, Options()).values[0]), expected);
  std::string ring = text;
  ring.replace(ring.find("(i - 1)/2"), 9, "i == 1 ? 7 : i - 1");
  EXPECT_THAT(ErrorOf(ring, Options()), HasSubstr("tasks wait for each other"));
  // The affine part alone would be an order.
  std::string itself = text;
  itself.replace(itself.find("(i - 1)/2"), 9, "1");
  itself.replace(itself.find("depth(parent(i))"), 16,
                 "depth(i - 1 + parent(i))");
  EXPECT_THAT(ErrorOf(itself, Options()),
              HasSubstr("tasks wait for each other"));
}

}  // namespace
}  // namespace dogged::dsl

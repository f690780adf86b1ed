// Aim: NaNs that a program makes have one digest, however it is compiled, and
// max and min are those of IEEE 754-2019 wherever they are computed.
// Method: NaNs of both signs, from many operations, that meet one another; all
// pairs of special numbers in both orders, against reductions of the two and a
// table; compiled, interpreted, in tiles and in points.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/dsl/compile_tools.h"

namespace dogged::dsl {
namespace {

constexpr char kNans[] = R"(
param zero : double = 0.0
array f(x = 0:15)(t = 0:3) : float
task start
  creates u(x)(0) as n  v(x)(0) as m  f(x)(0) as g
  for x = 0:15
  code
    p = x == 0 ? zero/zero : x == 1 ? 1.0/zero - 1.0/zero : 1.0*x
    q = x == 2 ? sqrt(zero - 1.0) : x == 3 ? log(zero - 1.0) : p
    r = x == 4 ? fmod(1.0, zero) : x == 5 ? -(zero/zero) : q
    n = r
    m = -r
    g = float(r)
  end code
end task
task step
  creates u(x)(t) as n  v(x)(t) as m  f(x)(t) as g
  for x = 0:15 t = 1:3
  using u(x)(t-1) as a  v(x)(t-1) as b  f(x)(t-1) as h
  code
    n = a + b*b + min(a, b) + max(b, a) - pow(b, a)
    m = b*a - (a + b) + min(b, a)*2.0
    g = h + float(b) - min(h, float(a))
  end code
end task
reduce least(t) = min(u(x)(t)) for t = 0:3 over x = 0:15
result u(x)(t) for x = 0:15 t = 0:3
result v(x)(t) for x = 0:15 t = 0:3
result f(x)(t) for x = 0:15 t = 0:3
result least(t) for t = 0:3
)";

TEST(Nans, HaveOneDigest) {
  const KernelCache cache;
  ExpectOneDigest(kNans, Options(), {.widths = {5}, .depth = 2},
                  cache.Source());
}

// Notes the digests of all that a kernel makes.
class NotedKernel : public Kernel {
 public:
  using Notes = std::map<Task, std::vector<std::string>>;
  NotedKernel(std::unique_ptr<Kernel> kernel, Notes& notes)
      : kernel_(std::move(kernel)), notes_(notes) {}
  absl::Status Run(KernelCall& call) const override {
    const absl::Status status = kernel_->Run(call);
    for (Value& output : call.outputs) {
      output.Seal();
      notes_[call.task].push_back(output.digest().ToString());
    }
    return status;
  }

 private:
  const std::unique_ptr<Kernel> kernel_;
  Notes& notes_;
};

// Two agents, one with a compiler, may run the same task.
TEST(Nans, HaveOneDigestInWhatTilesHandOn) {
  const KernelCache cache;
  CompileOptions options = Options();
  options.shape = {.widths = {5}, .depth = 2};
  const Job job = MustCompile(kNans, options);
  std::vector<NotedKernel::Notes> all;
  for (const CompileSource& compile : {CompileSource(), cache.Source()}) {
    absl::StatusOr<KernelTable> kernels =
        LoadKernels(job, KernelRegistry(), compile);
    ASSERT_TRUE(kernels.ok()) << kernels.status();
    NotedKernel::Notes& notes = all.emplace_back();
    for (std::unique_ptr<Kernel>& kernel : *kernels) {
      if (kernel == nullptr) continue;
      kernel = std::make_unique<NotedKernel>(std::move(kernel), notes);
    }
    ASSERT_TRUE(RunSerially(Relations(job.program), *kernels, [](auto&, auto&) {
                  return absl::OkStatus();
                }).ok());
  }
  EXPECT_GT(all[0].size(), 8u);
  EXPECT_EQ(all[0], all[1]);
}

// Numbers of which no two of a pair may change places: NaN, both zeros, both
// infinities, and plain ones.
double Special(int64_t k) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::array<double, 7> numbers = {std::nan(""), 0.0,      -0.0,     1.5,
                                         -1.5,         infinity, -infinity};
  return numbers[k];
}

// Maximum of IEEE 754-2019, case by case.
double Maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (a == 0 && b == 0) return std::signbit(a) && std::signbit(b) ? -0.0 : 0.0;
  return std::max(a, b);
}

bool AreOne(double a, double b) {
  if (std::isnan(a)) return std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

constexpr char kPairs[] = R"(
input a(x) for x = 0:48
input b(x) for x = 0:48
array f(x = 0:48)(t = 0:2) : float
task start
  creates u(x)(0) as n  v(x)(0) as m  f(x)(0) as g
  for x = 0:48
  using a(x) as p  b(x) as q
  code
    n = max(p, q)
    m = min(p, q)
    g = max(float(p), float(q))
  end code
end task
task step
  creates u(x)(t) as n  v(x)(t) as m  f(x)(t) as g
  for x = 0:48 t = 1:2
  using
    a(x) as p  b(x) as q
    u(x)(t-1) as c  v(x)(t-1) as d  f(x)(t-1) as h
  code
    n = max(c, max(p, q))
    m = min(min(p, q), d)
    g = max(max(float(q), h), float(p))
  end code
end task
result u(x)(2) for x = 0:48
result v(x)(2) for x = 0:48
result f(x)(2) for x = 0:48
)";

constexpr char kReduced[] = R"(
input a(x) for x = 0:48
input b(x) for x = 0:48
task pair
  creates w(x)(k) as n
  for x = 0:48 k = 0:1
  using a(x) as p  b(x) as q
  code
    n = k == 0 ? p : q
  end code
end task
reduce u(x) = max(w(x)(k)) for x = 0:48 over k = 0:1
reduce v(x) = min(w(x)(k)) for x = 0:48 over k = 0:1
result u
result v
)";

// The first and the second of all pairs.
CompileOptions WithPairs() {
  CompileOptions options = Options();
  for (const bool is_first : {true, false}) {
    Value value = Value::Allocate(ElementType::kDouble, {49});
    for (int64_t k = 0; k < 49; ++k) {
      value.mutable_span<double>()[k] = Special(is_first ? k / 7 : k % 7);
    }
    value.Seal();
    options.inputs[is_first ? "a" : "b"] = std::move(value);
  }
  return options;
}

TEST(Extremes, AreThoseOfIeee754) {
  const KernelCache cache;
  for (const char* text : {kPairs, kReduced}) {
    const SerialOutcome out = MustRun(text, WithPairs());
    ASSERT_GE(out.values.size(), 2u);
    for (int64_t k = 0; k < 49; ++k) {
      const auto at = static_cast<size_t>(k);
      const double a = Special(k / 7);
      const double b = Special(k % 7);
      EXPECT_TRUE(AreOne(Maximum(a, b), out.values[0].span<double>()[at]))
          << "max of " << a << " and " << b;
      EXPECT_TRUE(AreOne(-Maximum(-a, -b), out.values[1].span<double>()[at]))
          << "min of " << a << " and " << b;
      if (out.values.size() < 3) continue;
      const double single = out.values[2].span<float>()[at];
      EXPECT_TRUE(AreOne(Maximum(a, b), single))
          << "max of the floats " << a << " and " << b;
    }
    ExpectOneDigest(text, WithPairs(), {.widths = {5}, .depth = 1},
                    cache.Source());
  }
}

// Where numbers alone are compared, before anything runs.
TEST(Extremes, AreThoseOfIeee754AmongParameters) {
  const SerialOutcome out = MustRun(R"(
param most : double = max(-0.0, 0.0)
param least : double = min(0.0, -0.0)
task t
  creates u(x) as n
  for x = 0:1
  code
    n = x == 0 ? 1.0/most : 1.0/least
  end code
end task
result u
)",
                                    Options());
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(out.values[0].span<double>(),
              testing::ElementsAre(infinity, -infinity));
}

}  // namespace
}  // namespace dogged::dsl

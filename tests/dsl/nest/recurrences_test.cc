// Aim: recurrences in which no index stands for time run in tiles of skewed
// hyperplanes, with the bits of their points, whose labels are no boxes around
// slanted faces, and whose points go side by side along wavefronts.
// Method: random recurrences over boxes with random results and reductions, in
// random tiles and in points; the elements of labels are counted.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dsl/ir/nest_body.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "tests/dsl/compile_tools.h"
#include "tests/dsl/nest/nest_tools.h"
#include "tests/sim/serial.h"

namespace dogged::dsl {
namespace {

using testing::StartsWith;

// Fields over a box, each point of which reads points behind it: behind in
// `factors` . x, which no single index may tell.
class Recurrence {
 public:
  explicit Recurrence(Rng& rng) : rng_(rng) {
    const int64_t rank = rng.Chance(0.7) ? 2 : 3;
    const int64_t unit = rng.Below(rank);
    for (int64_t e = 0; e < rank; ++e) {
      extents_.push_back(rank == 2 ? 8 + rng.Below(30) : 5 + rng.Below(7));
      const int64_t factor = e == unit ? 1 : 1 + rng.Below(2);
      factors_.push_back(rng.Chance(0.3) ? -factor : factor);
    }
  }

  int64_t rank() const { return std::ssize(extents_); }
  std::string Text() {
    const int64_t fields = 1 + rng_.Below(2);
    std::string out;
    for (int64_t f = 0; f < fields; ++f) {
      absl::StrAppend(&out, "task fill", f, "\n  creates f", f, At({}),
                      " as n\n  for", Box(false), "\n  using\n");
      std::string sum = "0.125*x0 - 0.0625*x1";
      const int64_t reads = 2 + rng_.Below(3);
      for (int64_t r = 0; r < reads; ++r) {
        const bool is_here = f > 0 && rng_.Chance(0.3);
        const std::vector<int64_t> shift =
            is_here ? std::vector<int64_t>(extents_.size(), 0) : Behind();
        absl::StrAppend(&out, "    f", is_here ? 0 : rng_.Below(fields),
                        At(shift), " as u", r, Inside(shift), "\n");
        absl::StrAppend(&sum, " + 0.", 1 + rng_.Below(4), "*u", r);
      }
      absl::StrAppend(&out, "  code\n    n = ", sum,
                      "\n  end code\nend task\n");
    }
    absl::StrAppend(&out, "result f0", At({}), " for", Box(true), "\n",
                    "result f", fields - 1, Corner(), "\n");
    if (rng_.Chance(0.5)) absl::StrAppend(&out, "result f0", Row(), "\n");
    if (rng_.Chance(0.5)) {
      absl::StrAppend(&out, "reduce most = max(f0", At({}), ") over",
                      Box(false), "\nresult most\n");
    }
    if (rng_.Chance(0.5)) {
      absl::StrAppend(&out, "reduce total = sum(f0", At({}), ") over",
                      Box(true), "\nresult total\n");
    }
    return out;
  }

 private:
  // f(x0+1)(x1-2), for a shift of 1 and -2; none: f(x0)(x1).
  std::string At(const std::vector<int64_t>& shift) const {
    std::string out;
    for (size_t e = 0; e < extents_.size(); ++e) {
      const int64_t s = shift.empty() ? 0 : shift[e];
      absl::StrAppend(&out, "(x", e, s < 0 ? "" : "+", s, ")");
    }
    return out;
  }
  std::string Box(bool in_part) {
    std::string out;
    for (size_t e = 0; e < extents_.size(); ++e) {
      const int64_t last = extents_[e] - 1;
      const int64_t first = in_part ? rng_.Below(last) : 0;
      absl::StrAppend(&out, " x", e, " = ", first, ":",
                      in_part ? first + rng_.Below(last - first + 1) : last);
      if (in_part && rng_.Chance(0.3)) {
        absl::StrAppend(&out, ":", 1 + rng_.Below(4));
      }
    }
    return out;
  }
  std::string Corner() const {
    std::string out;
    for (size_t e = 0; e < extents_.size(); ++e) {
      absl::StrAppend(&out, "(", factors_[e] < 0 ? 0 : extents_[e] - 1, ")");
    }
    return out;
  }
  std::string Row() {
    const int64_t fixed = rng_.Below(std::ssize(extents_));
    std::string out;
    for (size_t e = 0; e < extents_.size(); ++e) {
      const bool is_fixed = static_cast<int64_t>(e) == fixed;
      absl::StrAppend(&out, "(",
                      is_fixed ? absl::StrCat(rng_.Below(extents_[e])) : ":",
                      ")");
    }
    return out;
  }
  // A shift of 1 to 6 steps back, to a neighbour where there are many.
  std::vector<int64_t> Behind() {
    while (true) {
      std::vector<int64_t> out;
      int64_t steps = 0;
      for (const int64_t factor : factors_) {
        const int64_t reach = rank() == 2 ? 2 : 1;
        out.push_back(rng_.Below(2 * reach + 1) - reach);
        steps -= factor * out.back();
      }
      if (steps >= 1 && steps <= 6) return out;
    }
  }
  std::string Inside(const std::vector<int64_t>& shift) const {
    std::string out;
    for (size_t e = 0; e < shift.size(); ++e) {
      if (shift[e] == 0) continue;
      absl::StrAppend(&out, out.empty() ? " where x" : " and x", e,
                      shift[e] < 0 ? " >= " : " <= ",
                      shift[e] < 0 ? -shift[e] : extents_[e] - 1 - shift[e]);
    }
    return out.empty() ? out : absl::StrCat(out, " else 0.25");
  }

  Rng& rng_;
  std::vector<int64_t> extents_;
  std::vector<int64_t> factors_;
};

TEST(Recurrences, RandomOnesInRandomTiles) {
  const KernelCache cache;
  const auto [first, last] = SeedRange(12);
  int64_t tiled = 0;
  for (int64_t seed = first; seed <= last; ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    Recurrence recurrence(rng);
    const std::string text = recurrence.Text();
    SCOPED_TRACE(
        absl::StrCat("DOGGED_TEST_SEEDS=", seed, ":", seed, "\n", text));
    CompileOptions options = NestOptions();
    for (int64_t k = 1 + rng.Below(3); k > 0; --k) {
      options.nest_widths.push_back(5 + rng.Below(12));
    }
    // Over some dependences isl takes too long.
    if (!absl::StartsWith(MustCompile(text, options).lowering, kLoopNest)) {
      continue;
    }
    ++tiled;
    ExpectBitsOfPoints(text, options,
                       rng.Chance(0.3) ? cache.Source() : CompileSource());
    if (HasFailure()) return;
  }
  EXPECT_GE(10 * tiled, 8 * (last - first));
}

// The table of Smith and Waterman, N by N.
std::string Table(const std::string& results) {
  return absl::StrCat(R"(
param N = 100
array h(i = 0:N)(j = 0:N) : int64
boundary h(i)(0) = 0
boundary h(0)(j) = 0 where j > 0
task score
  creates h(i)(j) as n
  for  i = 1:N  j = 1:N
  using  h(i-1)(j-1) as diagonal  h(i-1)(j) as above  h(i)(j-1) as left
  code
    match = diagonal + (i % 4 == j*j % 4 ? 2 : -1)
    n = max(max(0, match), max(above, left) - 1)
  end code
end task
)",
                      results);
}

// Elements that labels of results have in tiles of 25 by 25 points.
int64_t ElementsHeld(const std::string& text) {
  CompileOptions options = NestOptions();
  options.nest_widths = {25};
  const Job job = MustCompile(text, options);
  EXPECT_THAT(job.lowering, StartsWith(kLoopNest));
  const absl::StatusOr<KernelTable> kernels =
      LoadKernels(job, KernelRegistry(), nullptr);
  EXPECT_TRUE(kernels.ok()) << kernels.status();
  int64_t elements = 0;
  const absl::StatusOr<int64_t> ran = RunSerially(
      Relations(job.program), *kernels, [&](const Label&, const Value& value) {
        elements += value.element_count();
        return absl::OkStatus();
      });
  EXPECT_TRUE(ran.ok()) << ran.status();
  ExpectBitsOfPoints(text, options, nullptr);
  return elements;
}

TEST(Recurrences, HoldWhatIsWanted) {
  // A row or a column is held as its entries alone, whichever index it fixes.
  EXPECT_EQ(ElementsHeld(Table("result h(N)(:)")), 101);
  EXPECT_EQ(ElementsHeld(Table("result h(:)(N)")), 101);
  EXPECT_EQ(ElementsHeld(Table("result h(N)(N)")), 1);
  EXPECT_EQ(ElementsHeld(Table("result h(:)(:)")), 101 * 101);
}

// dsl.apps and dsl.compile hold their points to plain loops.
TEST(Recurrences, AppsHaveTheBitsOfTheirPoints) {
  const KernelCache cache;
  for (const char* app :
       {"wavefront/wavefront.dog", "smithwaterman/smithwaterman.dog"}) {
    CompileOptions options = NestOptions();
    options.prefers_nest = false;  // there is no other way to tiles
    options.parameters = {{"N", "61"}};
    options.nest_widths = {9};
    ExpectBitsOfPoints(ReadApp(app), options, cache.Source());
  }
}

TEST(Recurrences, ANarrowBandIsTiles) {
  const std::string text = R"(
param N = 2000
task warp
  creates h(i)(j) as n
  for  i = 0:N  j = max(0, i-1):min(N, i+1)
  using
    h(i-1)(j) as above where i > 0 and j <= i else 1
    h(i)(j-1) as left  where j > 0 and j >= i else 1
  code
    n = 0.5*above + 0.25*left
  end code
end task
result h(N)(N)
)";
  CompileOptions options = NestOptions();
  options.nest_widths = {64};
  ExpectBitsOfPoints(text, options, nullptr);
  // Tiles off the diagonal are not there.
  EXPECT_LT(MustCompile(text, options).program.TaskCount(), 4 * 2000 / 64);
}

TEST(Recurrences, ReadFiles) {
  const std::string text = R"(
param N = 30
input s(i)(j) for i = 0:N j = 0:N
input q(i) for i = 1:N
input h(0)(j) for j = 0:N
boundary h(i)(0) = i where i > 0
task add
  creates h(i)(j) as n
  for  i = 1:N  j = 1:N
  using
    h(i-1)(j) as above
    h(i)(j-1) as left
    s(i-1)(j) as here
    q(j) as x
  code
    n = 0.4*(above + left) + here*x
  end code
end task
result h(N)(:)
result h(:)(3)
)";
  CompileOptions options = NestOptions();
  const auto file = [](const Shape& shape) {
    Value out = Value::Allocate(ElementType::kDouble, shape);
    double next = 0.5;
    for (double& number : out.mutable_span<double>()) {
      number = next = 0.9 * next + 0.1;
    }
    out.Seal();
    return out;
  };
  options.inputs = {
      {"s", file({31, 31})}, {"q", file({30})}, {"h", file({31})}};
  options.nest_widths = {8};
  ExpectBitsOfPoints(text, options, nullptr);
}

// A sweep of Gauss and Seidel over a plane reads what it has just made.
std::string Sweep() {
  return R"(
param N = 100
param T = 40
boundary u(i)(j)(t) = 0.01*i*j
task sweep
  creates u(i)(j)(t) as n
  for  t = 1:T  i = 1:N-2  j = 1:N-2
  using
    u(i-1)(j)(t)   as north
    u(i)(j-1)(t)   as west
    u(i)(j)(t-1)   as here
    u(i)(j+1)(t-1) as east
    u(i+1)(j)(t-1) as south
  code
    n = 0.2*(north + west + here + east + south)
  end code
end task
result u(:)(:)(T)
)";
}

NestBody BodyOf(const Job& job, const std::string& task) {
  for (const KernelSpec& spec : job.program.kernels) {
    if (!absl::StartsWith(spec.name, task)) continue;
    auto body = NestBody::Decode(spec.body);
    EXPECT_TRUE(body.ok()) << body.status();
    if (body.ok()) return *std::move(body);
  }
  ADD_FAILURE() << "there are no tiles of " << task;
  return {};
}

// Hyperplanes of its tiles are t, t + i and t + j: a face that leaves a tile
// lies askew in the array, where the box around it has a tile's volume.
TEST(Recurrences, SlantedFacesAreNoBoxesOfTheArray) {
  constexpr int64_t kSide = 16;
  CompileOptions options = NestOptions();
  options.nest_widths = {kSide};
  ExpectBitsOfPoints(Sweep(), options, nullptr);
  const Job job = MustCompile(Sweep(), options);
  // Tiles of edges have no index that is fixed there.
  EXPECT_THAT(job.lowering, testing::Not(testing::ContainsRegex(
                                "boundary [^;]* in [0-9]+ x [0-9]+ x")));
  for (const NestBlock& block : BodyOf(job, "sweep").blocks) {
    if (block.kind == NestBlock::Kind::kBuffer) continue;
    EXPECT_LE(block.Count(), 2 * (kSide + 2) * (kSide + 2));
  }
}

// Along each of its hyperplanes a point needs the one before, along their sums
// none: the innermost loop is of such points.
TEST(Recurrences, PointsGoSideBySideAlongWavefronts) {
  const auto has_parallel_loop = [](const std::string& text,
                                    const std::string& task) {
    const NestBody body = BodyOf(MustCompile(text, NestOptions()), task);
    return std::any_of(
        body.nodes.begin(), body.nodes.end(), [&body](const NestNode& node) {
          return node.is_parallel &&
                 body.nodes[node.children[0]].kind == NestNode::Kind::kCall &&
                 body.nodes[node.children[0]].number == 0;
        });
  };
  EXPECT_TRUE(has_parallel_loop(Sweep(), "sweep"));
  EXPECT_TRUE(has_parallel_loop(Table("result h(N)(N)"), "score"));
}

}  // namespace
}  // namespace dogged::dsl

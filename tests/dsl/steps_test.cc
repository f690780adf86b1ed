// Aim: results and reductions of every s-th time step and every s-th point keep
// a program in its tiles, hold no more than those, and have the bits of its
// points.
// Method: random stencils with random ranges of space and time, in random tiles
// and in points; the elements of tiles are counted.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "tests/dsl/compile_tools.h"
#include "tests/dsl/random_stencil.h"
#include "tests/sim/serial.h"

namespace dogged::dsl {
namespace {

using testing::HasSubstr;

std::string RandomRange(int64_t least, int64_t last, Rng& rng) {
  const int64_t first = least + rng.Below(last - least + 1);
  return absl::StrCat("t = ", first, ":", last, ":", 1 + rng.Below(7));
}

// As RandomStencil::Ranges(), with steps, some of them wider than tiles.
std::string RandomSpace(const RandomStencil& stencil, Rng& rng) {
  std::string out = "  for\n";
  for (size_t d = 0; d < stencil.extents.size(); ++d) {
    const int64_t last = stencil.extents[d] - 1;
    const int64_t first = rng.Below(last + 1);
    absl::StrAppend(&out, "    x", d, " = ", first, ":",
                    first + rng.Below(last - first + 1), ":",
                    1 + rng.Below(rng.Chance(0.2) ? 40 : 4), "\n");
  }
  return out;
}

// `stencil` with some of its time steps and points behind.
std::string WithSteps(const RandomStencil& stencil, Rng& rng) {
  const int64_t last = stencil.order + stencil.steps - 1;
  const std::string all = stencil.Ranges();
  const std::string over = absl::StrCat("  over", all.substr(5));
  const std::string few = RandomSpace(stencil, rng);
  const std::string at = absl::StrCat("f0", stencil.Indices({}));
  const std::string some = RandomRange(0, last, rng);
  const std::string late = RandomRange(1, last, rng);
  return absl::StrCat(stencil.Text(), "result ", at, "(t)\n", all, "    ",
                      RandomRange(0, last, rng), "\n",  //
                      "reduce each(t) = norm2(", at, "(t))\n  for ", some, "\n",
                      over, "result each(t) for ", some, "\n",  //
                      "reduce before(t) = min(", at, "(t-1))\n  for ", late,
                      "\n", over, "result before(t) for ", late, "\n",  //
                      "reduce ever = max(", at, "(t))\n", over, "    ",
                      RandomRange(0, last, rng), "\nresult ever\n",  //
                      "reduce few(t) = sum(", at, "(t))\n  for ", late,
                      "\n  over", few.substr(5), "result few(t) for ", late,
                      "\nresult ", at, "(", rng.Below(last + 1), ")\n", few,
                      "result ", at, "(t)\n", RandomSpace(stencil, rng), "    ",
                      RandomRange(0, last, rng), "\n");
}

TEST(Steps, OfRandomStencilsInRandomTiles) {
  const auto [first, last] = SeedRange(32);
  for (int64_t seed = first; seed <= last; ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    const RandomStencil stencil(rng.Stream("stencil"));
    const std::string text = WithSteps(stencil, rng);
    SCOPED_TRACE(
        absl::StrCat("DOGGED_TEST_SEEDS=", seed, ":", seed, "\n", text));
    CompileOptions options = Options();
    options.shape = TileShape{.widths = {}, .depth = 1 + rng.Below(8)};
    for (size_t d = 0; d < stencil.extents.size(); ++d) {
      options.shape->widths.push_back(1 + rng.Below(30));
    }
    const Job tiles = MustCompile(text, options);
    EXPECT_THAT(tiles.lowering, HasSubstr("steps deep"));
    ExpectOneDigest(text, Options(), *options.shape, nullptr);
    if (HasFailure()) return;
  }
}

TEST(Steps, OnlyWhatIsWantedIsKept) {
  const std::string text = R"(
boundary u(0)(t) = 1
boundary u(99)(t) = 0
boundary u(x)(0) = 0 where x > 0 and x < 99
task relax
  creates u(x)(t) as n
  for  x = 1:98  t = 1:400
  using u(x-1)(t-1) as west  u(x+1)(t-1) as east
  code
    n = 0.5*(west + east)
  end code
end task
reduce total(t) = sum(u(x)(t)) for t = 100:400:50 over x = 0:99
result u(x)(t) for x = 0:99 t = 3:400:100
result total(t) for t = 100:400:50
)";
  CompileOptions options = Options();
  options.shape = TileShape{.widths = {100}, .depth = 32};
  const Job job = MustCompile(text, options);
  EXPECT_THAT(job.lowering, HasSubstr("32 steps deep"));
  const absl::StatusOr<KernelTable> kernels =
      LoadKernels(job, KernelRegistry(), nullptr);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const Relations relations(job.program);
  int64_t largest = 0;
  int64_t elements = 0;
  const absl::StatusOr<int64_t> ran =
      RunSerially(relations, *kernels, [&](const Label&, const Value& value) {
        largest = std::max(largest, value.element_count());
        elements += value.element_count();
        return absl::OkStatus();
      });
  ASSERT_TRUE(ran.ok()) << ran.status();
  // u at 3, 103, 203 and 303, and seven sums.
  EXPECT_EQ(largest, 100);
  EXPECT_EQ(elements, 4 * 100 + 7);
  // Leaves of the sums: their trees have seven.
  int64_t leaves = 0;
  for (const TaskClass& c : job.program.classes) {
    if (c.name == "reduce total(t) leaf") leaves += c.domain.Count();
  }
  EXPECT_EQ(leaves, 7);
  ExpectOneDigest(text, Options(), *options.shape, nullptr);
}

TEST(Steps, OnlyPointsThatAreWantedAreKept) {
  const std::string text = R"(
param T = 9
input u(x)(y)(0) for x = 0:99 y = 0:49 else sin(0.1*x*y)
boundary u(x)(y)(t) = periodic(y)
task blur
  creates u(x)(y)(t) as n
  for  x = 0:99  y = 0:49  t = 1:T
  using u(x)(y-1)(t-1) as west  u(x)(y+1)(t-1) as east
  code
    n = 0.5*(west + east)
  end code
end task
result u(x)(y)(T) for x = 3:99:30 y = 1:49:12
)";
  CompileOptions options = Options();
  options.shape = TileShape{.widths = {10, 52}, .depth = 4};
  const Job job = MustCompile(text, options);
  EXPECT_THAT(job.lowering, HasSubstr("10 x 1 tiles of 10 x 52 points, 4 "));
  const absl::StatusOr<KernelTable> kernels =
      LoadKernels(job, KernelRegistry(), nullptr);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  std::vector<int64_t> elements;  // by tile: some have none
  const Relations relations(job.program);
  const absl::StatusOr<int64_t> ran =
      RunSerially(relations, *kernels, [&](const Label&, const Value& value) {
        elements.push_back(value.element_count());
        return absl::OkStatus();
      });
  ASSERT_TRUE(ran.ok()) << ran.status();
  EXPECT_THAT(elements,
              testing::UnorderedElementsAre(5, 0, 0, 5, 0, 0, 5, 0, 0, 5));
  ExpectOneDigest(text, Options(), *options.shape, nullptr);
}

// Not all that is wanted is steps in a box, and some are beyond any range.
TEST(Steps, ThatTilesLackRunPointByPoint) {
  for (const char* ranges :
       {"x = 0:20 t = 0:9 where x > t", "x = 0:20 t = 0:9:2000000000000"}) {
    const std::string text = absl::StrCat(R"(
task one
  creates u(x)(t) as n
  for x = 0:20 t = 0:0
  code
    n = x
  end code
end task
task step
  creates u(x)(t) as n
  for x = 0:20 t = 1:9
  using u(x)(t-1) as c
  code
    n = c + 1
  end code
end task
result u(x)(t) for )",
                                          ranges, "\n");
    EXPECT_THAT(MustCompile(text, Options()).lowering,
                HasSubstr("point by point: the results of u are no box, and "
                          "no steps in one"));
    ExpectOneDigest(text, Options(), {.widths = {9}, .depth = 2}, nullptr);
  }
}

}  // namespace
}  // namespace dogged::dsl

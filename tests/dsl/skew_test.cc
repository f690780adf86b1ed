// Aim: recurrences in which no index stands for time run in tiles along skewed
// steps, with the bits of their points, and hold no more than is wanted.
// Method: random recurrences over boxes with random results and reductions, in
// random tiles and in points; the elements of tiles are counted.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "tests/dsl/compile_tools.h"
#include "tests/sim/serial.h"

namespace dogged::dsl {
namespace {

using testing::HasSubstr;
using testing::Not;

// Fields over a box, each point of which reads points behind it: behind in
// `factors` . x, which no single index may tell.
class Recurrence {
 public:
  explicit Recurrence(Rng& rng) : rng_(rng) {
    const int64_t rank = 2 + rng.Below(2);
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
  // A shift of 1 to 6 steps back.
  std::vector<int64_t> Behind() {
    while (true) {
      std::vector<int64_t> out;
      int64_t steps = 0;
      for (const int64_t factor : factors_) {
        out.push_back(rng_.Below(5) - 2);
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

TEST(Skew, RandomRecurrencesInRandomTiles) {
  const auto [first, last] = SeedRange(48);
  int64_t skewed = 0;
  for (int64_t seed = first; seed <= last; ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    Recurrence recurrence(rng);
    const std::string text = recurrence.Text();
    SCOPED_TRACE(
        absl::StrCat("DOGGED_TEST_SEEDS=", seed, ":", seed, "\n", text));
    CompileOptions options = Options();
    options.shape = TileShape{.widths = {}, .depth = 1 + rng.Below(12)};
    for (int64_t d = 1; d < recurrence.rank(); ++d) {
      options.shape->widths.push_back(1 + rng.Below(20));
    }
    const Job tiles = MustCompile(text, options);
    skewed += absl::StrContains(tiles.lowering, "by steps of");
    ExpectOneDigest(text, Options(), *options.shape, nullptr);
    if (HasFailure()) return;
  }
  EXPECT_GE(3 * skewed, last - first);
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

// Elements that labels of results have in tiles of 25 points and 16 steps.
int64_t ElementsHeld(const std::string& text) {
  CompileOptions options = Options();
  options.shape = TileShape{.widths = {25}, .depth = 16};
  const Job job = MustCompile(text, options);
  EXPECT_THAT(job.lowering, HasSubstr("by steps of i + j"));
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
  ExpectOneDigest(text, Options(), *options.shape, nullptr);
  return elements;
}

TEST(Skew, HoldsWhatIsWanted) {
  // A row or a column is held as its entries alone, whichever index it fixes.
  EXPECT_EQ(ElementsHeld(Table("result h(N)(:)")), 101);
  EXPECT_EQ(ElementsHeld(Table("result h(:)(N)")), 101);
  EXPECT_EQ(ElementsHeld(Table("result h(N)(N)")), 1);
  // The whole table is held by tiles that the band of steps goes through, not
  // all of them.
  EXPECT_LT(ElementsHeld(Table("result h(:)(:)")), 101 * 150);
}

TEST(Skew, OnlyWhereNoIndexIsTime) {
  const auto lowering = [](const std::string& text) {
    return MustCompile(text, Options()).lowering;
  };
  // A stencil is one already.
  EXPECT_THAT(lowering(R"(
boundary u(0)(t) = 1
boundary u(9)(t) = 0
boundary u(x)(0) = 0 where x > 0 and x < 9
task relax
  creates u(x)(t) as n
  for  x = 1:8  t = 1:4
  using u(x-1)(t-1) as west  u(x+1)(t-1) as east
  code
    n = 0.5*(west + east)
  end code
end task
result u(:)(4)
)"),
              Not(HasSubstr("by steps")));
  // How far back it reads is not the same everywhere.
  EXPECT_THAT(lowering(R"(
boundary p(0)(j) = j
task add
  creates p(i)(j) as n
  for i = 1:20  j = 0:20
  using p(i-1)(20-j) as across  p(i-1)(j) as above
  code
    n = across + above
  end code
end task
result p(20)(:)
)"),
              HasSubstr("point by point"));
}

TEST(Skew, OfALongTableSpaceIsTheShortSide) {
  const std::string text = R"(
param N = 3000
boundary h(i)(0) = i
boundary h(0)(j) = 1 where j > 0
task add
  creates h(i)(j) as n
  for  i = 1:N  j = 1:2
  using  h(i-1)(j) as above  h(i)(j-1) as left
  code
    n = 0.5*above + 0.5*left
  end code
end task
result h(N)(:)
)";
  EXPECT_THAT(MustCompile(text, Options()).lowering,
              HasSubstr("one tile of 3 points"));
  ExpectOneDigest(text, Options(), {.widths = {2}, .depth = 50}, nullptr);
}

TEST(Skew, ANarrowBandStaysPoints) {
  const std::string text = R"(
param N = 20000
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
  EXPECT_THAT(MustCompile(text, Options()).lowering,
              HasSubstr("by steps of i + j, most of space would be empty"));
}

TEST(Skew, ReadsFiles) {
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
  CompileOptions options = Options();
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
  EXPECT_THAT(MustCompile(text, options).lowering,
              HasSubstr("by steps of i + j"));
  ExpectOneDigest(text, options, {.widths = {8}, .depth = 5}, nullptr);
}

// A sweep of Gauss and Seidel reads what it has just made: its steps are those
// of 2*t + x, of which t has none of its own.
TEST(Skew, GaussSeidel) {
  const std::string text = R"(
param N = 40
param T = 9
input u(x)(0) for x = 0:N-1 else sin(0.1*x)
boundary u(0)(t) = 1 where t > 0
boundary u(N-1)(t) = 2 where t > 0
task sweep
  creates u(x)(t) as n
  for  x = 1:N-2  t = 1:T
  using  u(x-1)(t) as left  u(x)(t-1) as here  u(x+1)(t-1) as right
  code
    n = here + 1.5*(0.5*(left + right) - here) + 0.001*x*t
  end code
end task
result u(:)(T)
result u(N/2)(:)
)";
  EXPECT_THAT(MustCompile(text, Options()).lowering,
              HasSubstr("by steps of x + 2*t"));
  ExpectOneDigest(text, Options(), {.widths = {4}, .depth = 7}, nullptr);
}

}  // namespace
}  // namespace dogged::dsl

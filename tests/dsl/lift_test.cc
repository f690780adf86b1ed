// Aim: arrays made of single steps, lines and every n-th point of a stencil,
// and programs without steps, run in tiles, with the bits of their points.
// Method: random arrays of fewer indices than their stencil, read at random
// places, and chains of maps, in every way to run; the forms that users write,
// against plain loops.
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/dsl/compile_tools.h"
#include "tests/sim/serial.h"

namespace dogged::dsl {
namespace {

using testing::HasSubstr;

std::string LoweringOf(const std::string& text) {
  return MustCompile(text, Options()).lowering;
}

constexpr char kStencil[] = R"(
param N = 24
param M = 17
param T = 9
boundary u(x)(y)(t) = periodic(x)
task start
  creates u(x)(y)(0) as n
  for x = 0:N  y = 0:M
  code
    n = 0.25*x*y + x
  end code
end task
task step
  creates u(x)(y)(t) as n
  for x = 0:N  y = 0:M  t = 1:T
  using
    u(x)(y)(t-1) as c
    u(x-1)(y)(t-1) as w
    u(x)(y-1)(t-1) as s where y > 0 else 1
  code
    n = 0.5*c + 0.25*w + 0.125*s
  end code
end task
)";

// Tasks that read the stencil, and the results.
struct Form {
  std::string text;
  std::string what;
};

constexpr char kSpeed[] = R"(task speed
  creates s(x)(y) as n  q(x)(y) as m
  for x = 1:N  y = 0:M
  using u(x)(y)(T) as a  u(x-1)(y)(T-1) as b
  code
    n = sqrt(a*a + b*b)
    m = a - b
  end code
end task
result s
result q(3)(:)
)";

constexpr char kSlope[] = R"(task slope
  creates d(x)(y) as n
  for x = 0:N-1  y = 1:M
  using u(x+1)(y)(4) as a  u(x)(y-1)(4) as b
  code
    n = a - b + x
  end code
end task
task bend
  creates e(x)(y) as n
  for x = 1:N-1  y = 1:M
  using d(x)(y) as a  d(x-1)(y) as b  u(x)(y)(3) as c
  code
    n = a - b + c
  end code
end task
reduce most = max(e(x)(y)) over x = 1:N-1  y = 1:M
result e
result most
)";

constexpr char kReceivers[] = R"(task receiver
  creates seis(r)(t) as h
  for r = 0:5  t = 0:T
  using u(4*r+1)(7)(t) as a  u(4*r+2)(7)(t) as b
  code
    h = 0.5*a + 0.5*b + r
  end code
end task
result seis
result u(:)(:)(T)
)";

constexpr char kLine[] = R"(task line
  creates l(y) as h
  for y = 2:M
  using u(5)(y)(T) as a  u(5)(y-2)(T) as b
  code
    h = a*b + y
  end code
end task
result l
)";

constexpr char kFilm[] = R"(task film
  creates f(x)(y)(k) as h
  for x = 0:N  y = 0:M  k = 0:4
  using u(x)(y)(2*k) as a
  code
    h = 2*a + k
  end code
end task
task record
  creates g(i)(k) as h
  for i = 0:7  k = 1:3
  using u(3*i)(2)(3*k) as a
  code
    h = i % 3 == 1 ? a : -a
  end code
end task
result f
result g
)";

TEST(Lift, FormsThatUsersWrite) {
  const KernelCache cache;
  const std::vector<Form> forms = {
      {kSpeed, "a field of the last steps"},
      {kSlope, "a field of a field of an inner step"},
      {kReceivers, "receivers on a line, between points"},
      {kLine, "a line of the last step"},
      {kFilm, "every other step"}};
  for (const Form& form : forms) {
    SCOPED_TRACE(form.what);
    const std::string text = kStencil + form.text;
    ExpectOneDigest(text, Options(), {.widths = {30, 7}, .depth = 3},
                    cache.Source());
    EXPECT_THAT(LoweringOf(text), HasSubstr("steps deep"));
  }
}

TEST(Lift, MapsAndFiltersWithoutTime) {
  const KernelCache cache;
  const SerialOutcome out = MustRun(R"(
param N = 1000
input a(x) for x = 0:N-1 else 0.001*x
task f
  creates b(x) as n
  for x = 0:N-1
  using a(x) as v
  code
    n = sqrt(v) + 1
  end code
end task
result b
)",
                                    Options());
  for (int x = 0; x < 1000; ++x) {
    EXPECT_EQ(out.values[0].span<double>()[x], std::sqrt(0.001 * x) + 1);
  }
  constexpr char kImage[] = R"(
param N = 40
input a(x)(y) for x = 0:N-1  y = 0:N-1 else 0.001*x + 0.002*y
input weight(k) for k = -1:1 else 1.0/(2 + k*k)
task blur
  creates b(x)(y) as n
  for x = 1:N-2  y = 1:N-2
  using
    a(x-1)(y+1) as w  a(x+1)(y) as e  a(x)(y) as c
    weight(-1) as p  weight(0) as q
  code
    n = p*w + q*c + p*e
  end code
end task
task edge
  creates d(x)(y) as n  g(x)(y) as m
  for x = 2:N-3  y = 1:N-2
  using b(x+1)(y) as r  b(x-1)(y) as l  a(x)(y) as c
  code
    n = r - l
    m = (r + l)*c
  end code
end task
reduce most = max(d(x)(y)) over x = 2:N-3  y = 1:N-2
result d
result g(x)(y) for x = 2:N-3:3  y = 1:N-2
result b(5)(:)
result most
)";
  ExpectOneDigest(kImage, Options(), {.widths = {9, 11}, .depth = 1},
                  cache.Source());
  EXPECT_THAT(LoweringOf(kImage), HasSubstr("steps deep"));
}

// A task that still takes a stencil out of its tiles is named, with a way back
// that works.
TEST(Lift, FallingToPointsIsSaid) {
  constexpr char kBackwards[] = R"(task record
  creates seis(t)(r) as h
  for t = 0:T  r = 0:5
  using u(4*r+1)(7)(t) as a
  code
    h = a
  end code
end task
result u(:)(:)(T)
)";
  CompileOptions options = Options();
  options.parameters = {{"N", "100"}, {"M", "60"}};
  const auto words = [&options](const std::string& text) {
    Diagnostics diagnostics("", "");
    EXPECT_TRUE(Compile(text, options, KernelRegistry(), diagnostics).ok());
    return diagnostics.ToString();
  };
  const std::string text = absl::StrCat(kStencil, kBackwards, "result seis\n");
  // In chunks it takes no warning.
  EXPECT_EQ(words(text), "");
  EXPECT_THAT(MustCompile(text, options).lowering,
              HasSubstr("points; no tiles: task "));
  options.chunk_points = 0;
  EXPECT_THAT(
      words(text),
      testing::AllOf(
          HasSubstr("warning[D028]: the stencil runs point by point, in "),
          HasSubstr(" tasks instead of "),
          HasSubstr("result u(4*r+1)(7)(t) for t = 0:9  r = 0:5 to")));
  const std::string help =
      "result u(4*r+1)(7)(t) for t = 0:9  r = 0:5\nresult u(:)(:)(T)\n";
  EXPECT_EQ(words(kStencil + help), "");
  EXPECT_THAT(LoweringOf(kStencil + help), HasSubstr("steps deep"));
  ExpectOneDigest(kStencil + help, Options(), {.widths = {30, 7}, .depth = 3},
                  nullptr);
  // No warning of what is right, or done in a moment.
  EXPECT_EQ(words(absl::StrCat(kStencil, kReceivers)), "");
  options.parameters.clear();
  EXPECT_EQ(words(text), "");
}

// Results of lifted arrays have the indices of the program, whatever tiles do.
TEST(Lift, ResultsKeepTheirIndices) {
  const std::string text =
      absl::StrCat(kStencil, kReceivers, kFilm, "result seis(2)(3:5)\n");
  CompileOptions options = Options();
  options.shape = TileShape{.widths = {30, 5}, .depth = 2};
  const Job tiles = MustCompile(text, options);
  EXPECT_THAT(tiles.lowering, HasSubstr("steps deep"));
  options.coalesce = false;
  const Job points = MustCompile(text, options);
  ASSERT_EQ(tiles.program.views.size(), points.program.views.size());
  for (size_t v = 0; v < points.program.views.size(); ++v) {
    const ResultView& one = tiles.program.views[v];
    const ResultView& other = points.program.views[v];
    SCOPED_TRACE(one.array);
    EXPECT_EQ(one.lower, other.lower);
    EXPECT_EQ(one.upper, other.upper);
    EXPECT_EQ(one.step, other.step);
    ASSERT_EQ(one.tile_index.size(), other.tile_index.size());
    for (size_t d = 0; d < one.tile_index.size(); ++d) {
      EXPECT_EQ(one.tile_index[d] < 0, other.tile_index[d] < 0);
    }
  }
}

TEST(Lift, OneStepOfAll) {
  const KernelCache cache;
  for (const char* code : {"a(x)(y)", "a(y)(x)", "a(19-x)(y)", "w(x-y)"}) {
    const std::string text = absl::StrCat(R"(
param N = 20
input a(x)(y) for x = 0:N-1  y = 0:N-1 else 0.001*x + 0.002*y
input w(k) for k = 1-N:N-1 else 0.5*k
task f
  creates b(x)(y) as n  c(x)(y) as m
  for x = 0:N-1  y = 0:N-1
  using )",
                                          code, R"( as v
  code
    n = v + x
    m = v*y
  end code
end task
result b
result c(:)(3)
)");
    SCOPED_TRACE(text);
    ExpectOneDigest(text, Options(), {.widths = {7, 6}, .depth = 1},
                    cache.Source());
    EXPECT_THAT(LoweringOf(text), HasSubstr("steps deep"));
  }
}

TEST(Lift, OfRandomPlaces) {
  const auto [first, last] = SeedRange(6);
  for (int64_t seed = first; seed <= last; ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    // A step or each n-th of them, a line or each n-th point of it.
    const auto index = [&rng](absl::string_view name, int64_t extent,
                              std::string& range) {
      if (rng.Below(3) == 0) return absl::StrCat(rng.Below(extent + 1));
      const int64_t step = 1 + rng.Below(3);
      const int64_t offset = rng.Below(3);
      absl::StrAppend(&range, "  ", name, " = ", rng.Below(2), ":",
                      (extent - offset) / step);
      return absl::StrCat(step, "*", name, " + ", offset);
    };
    std::string range;
    const std::string x = index("a", 24, range);
    const std::string y = index("b", 17, range);
    const std::string t = index("c", 9, range);
    std::string label = "low";
    for (const char* name : {"a", "b", "c"}) {
      if (range.find(absl::StrCat(" ", name, " =")) != std::string::npos) {
        absl::StrAppend(&label, "(", name, ")");
      }
    }
    const std::string text = absl::StrCat(
        kStencil, "task pick\n  creates ", label, " as n\n",
        range.empty() ? "" : absl::StrCat("  for", range), "\n  using u(", x,
        ")(", y, ")(", t, ") as p\n  code\n    n = 3*p\n  end code\nend task\n",
        "result low\nresult u(:)(2)(T)\n");
    SCOPED_TRACE(
        absl::StrCat("DOGGED_TEST_SEEDS=", seed, ":", seed, "\n", text));
    ExpectOneDigest(
        text, Options(),
        {.widths = {30, 1 + rng.Below(20)}, .depth = 1 + rng.Below(4)},
        nullptr);
    EXPECT_THAT(LoweringOf(text), HasSubstr("steps deep"));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace dogged::dsl

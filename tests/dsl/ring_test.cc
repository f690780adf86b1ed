// Aim: a stencil reads round a ring as often as its distances lead, also where
// the ring is shorter than they are.
// Method: random distances on rings of few points, of one and two dimensions,
// and of a parameter that the analysis leaves open, against plain loops; in
// tiles and in points, compiled once.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/dsl/compile_tools.h"
#include "tests/sim/serial.h"

namespace dogged::dsl {
namespace {

constexpr int64_t kSteps = 5;

int64_t Modulo(int64_t a, int64_t n) { return ((a % n) + n) % n; }

struct Ring {
  int64_t rows;     // along x
  int64_t columns;  // along y; 1 in a ring of one dimension
  std::vector<std::pair<int64_t, int64_t>> distances;
  bool is_plane;

  std::string Text() const {
    std::string uses;
    std::string sum = "0.5*c";
    for (size_t k = 0; k < distances.size(); ++k) {
      const auto& [dx, dy] = distances[k];
      absl::StrAppend(&uses, "    u(x + ", dx, ")",
                      is_plane ? absl::StrCat("(y + ", dy, ")") : "",
                      "(t-1) as r", k, "\n");
      absl::StrAppend(&sum, " + ", k + 1, "*0.125*r", k);
    }
    const std::string y = is_plane ? "(y)" : "";
    const std::string range = is_plane ? "  y = 0:M-1" : "";
    return absl::StrCat(
        "param N = ", rows, "\nparam M = ", columns, "\nboundary u(x)", y,
        "(t) = periodic(x)\n",
        is_plane ? "boundary u(x)(y)(t) = periodic(y)\n" : "",
        "task start\n  creates u(x)", y, "(0) as n\n  for x = 0:N-1", range,
        "\n  code\n    n = 1.0 + x*x", is_plane ? " + 3*y" : "",
        " + 0*M\n  end code\nend task\ntask step\n  creates u(x)", y,
        "(t) as n\n  for x = 0:N-1", range, "  t = 1:", kSteps,
        "\n  using\n    u(x)", y, "(t-1) as c\n", uses, "  code\n    n = ", sum,
        "\n  end code\nend task\nresult u(:)", is_plane ? "(:)" : "", "(",
        kSteps, ")\n");
  }

  std::vector<double> Loops() const {
    std::vector<double> u;
    for (int64_t x = 0; x < rows; ++x) {
      for (int64_t y = 0; y < columns; ++y) {
        u.push_back(1.0 + static_cast<double>(x * x) +
                    (is_plane ? static_cast<double>(3 * y) : 0.0));
      }
    }
    for (int64_t t = 0; t < kSteps; ++t) {
      const std::vector<double> old = u;
      for (int64_t x = 0; x < rows; ++x) {
        for (int64_t y = 0; y < columns; ++y) {
          double sum = 0.5 * old[x * columns + y];
          for (size_t k = 0; k < distances.size(); ++k) {
            const int64_t at = Modulo(x + distances[k].first, rows) * columns +
                               Modulo(y + distances[k].second, columns);
            sum = sum + static_cast<double>(k + 1) * 0.125 * old[at];
          }
          u[x * columns + y] = sum;
        }
      }
    }
    return u;
  }
};

void ExpectLoops(const Ring& ring, const CompileSource& compile) {
  const std::string text = ring.Text();
  SCOPED_TRACE(text);
  const SerialOutcome out = MustRun(text, Options());
  ASSERT_EQ(out.values.size(), 1u);
  EXPECT_THAT(out.values[0].span<double>(),
              testing::ElementsAreArray(ring.Loops()));
  TileShape shape{.widths = {3}, .depth = 2};
  if (ring.is_plane) shape.widths.push_back(2);
  ExpectOneDigest(text, Options(), shape, compile);
  EXPECT_THAT(MustCompile(text, Options()).lowering,
              testing::HasSubstr("steps deep"));
}

TEST(Ring, ShorterThanItsStencil) {
  const KernelCache cache;
  ExpectLoops({.rows = 4,
               .columns = 1,
               .distances = {{-4, 0}, {5, 0}},
               .is_plane = false},
              cache.Source());
  ExpectLoops({.rows = 1,
               .columns = 1,
               .distances = {{-1, 0}, {3, 0}},
               .is_plane = false},
              nullptr);
  ExpectLoops({.rows = 2,
               .columns = 3,
               .distances = {{-5, 4}, {3, -7}},
               .is_plane = true},
              cache.Source());
}

TEST(Ring, OfRandomLengthAndDistances) {
  const auto [first, last] = SeedRange(16);
  for (int64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE(absl::StrCat("DOGGED_TEST_SEEDS=", seed, ":", seed));
    Rng rng(static_cast<uint64_t>(seed));
    const bool is_plane = rng.Below(2) == 0;
    Ring ring{.rows = 1 + rng.Below(9),
              .columns = is_plane ? 1 + rng.Below(5) : 1,
              .distances = {},
              .is_plane = is_plane};
    for (int k = 0; k < 3; ++k) {
      ring.distances.emplace_back(rng.Below(19) - 9,
                                  is_plane ? rng.Below(13) - 6 : 0);
    }
    ExpectLoops(ring, nullptr);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace dogged::dsl

// Aim: each stencil of apps/ is the loop beside it, bit by bit, however it is
// run: in one tile, in many, point by point, interpreted, as compiled C.
// Method: the program at a small size against its reference.
#include <string>
#include <vector>

#include "apps/reference.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/dsl/compile_tools.h"

namespace dogged::dsl {
namespace {

struct AppRun {
  std::string file;
  std::vector<std::pair<std::string, std::string>> parameters;
  TileShape shape;
  std::string lowering;  // a part of Job::lowering
};

// Runs the app in every way; gives the serial outcome.
SerialOutcome RunEveryWay(const AppRun& app) {
  const std::string text = ReadApp(app.file);
  CompileOptions options = Options();
  options.parameters = app.parameters;
  const SerialOutcome out = MustRun(text, options);
  const KernelCache cache;
  ExpectOneDigest(text, options, app.shape, cache.Source());
  options.shape = app.shape;
  EXPECT_THAT(MustCompile(text, options).lowering,
              testing::HasSubstr(app.lowering));
  return out;
}

TEST(AppsTest, Advection1d) {
  const SerialOutcome out =
      RunEveryWay({.file = "advection1d/advection1d.dog",
                   .parameters = {{"N", "57"}, {"T", "23"}},
                   .shape = {.widths = {16}, .depth = 4, .slab_points = 7},
                   .lowering = "one tile of"});
  ASSERT_EQ(out.values.size(), 1u);
  EXPECT_THAT(out.values[0].span<double>(),
              testing::ElementsAreArray(apps::Advection1d(57, 23)));
}

// A 9-point stencil on a torus: corners come around both ways.
TEST(AppsTest, Torus) {
  const std::string text = R"(
param N = 17
param T = 5
array u(x = -1:N)(y = -1:N)(t = 0:T) : int64
input u(x)(y)(0) for x = 0:N-1  y = 0:N-1 else (3*x + x*y) % 5
boundary u(x)(y)(t) = periodic(x)
boundary u(x)(y)(t) = periodic(y)
task step
  creates u(x)(y)(t) as n
  for  x = 0:N-1  y = 0:N-1  t = 1:T
  using
    u(x-1)(y-1)(t-1) as a
    u(x+1)(y+1)(t-1) as b
    u(x+1)(y-1)(t-1) as c
    u(x)(y)(t-1)     as d
  code
    n = (a + 2*b + 3*c + d) % 7
  end code
end task
result u(x)(y)(T) for x = 0:N-1  y = 0:N-1
)";
  constexpr int64_t kN = 17;
  std::vector<int64_t> now;
  for (int64_t x = 0; x < kN; ++x) {
    for (int64_t y = 0; y < kN; ++y) now.push_back((3 * x + x * y) % 5);
  }
  for (int step = 0; step < 5; ++step) {
    const auto at = [&](int64_t x, int64_t y) {
      return now[(x + kN) % kN * kN + (y + kN) % kN];
    };
    std::vector<int64_t> next;
    for (int64_t x = 0; x < kN; ++x) {
      for (int64_t y = 0; y < kN; ++y) {
        next.push_back((at(x - 1, y - 1) + 2 * at(x + 1, y + 1) +
                        3 * at(x + 1, y - 1) + at(x, y)) %
                       7);
      }
    }
    now.swap(next);
  }
  const SerialOutcome out = MustRun(text, Options());
  ASSERT_EQ(out.values.size(), 1u);
  EXPECT_THAT(out.values[0].span<int64_t>(), testing::ElementsAreArray(now));
  ExpectOneDigest(text, Options(), {.widths = {10, 10}, .depth = 2}, nullptr);
}

TEST(AppsTest, Heat3d) {
  const SerialOutcome out = RunEveryWay(
      {.file = "heat3d/heat3d.dog",
       .parameters = {{"N", "23"}, {"T", "7"}},
       .shape = {.widths = {10, 11, 12}, .depth = 3, .slab_points = 30},
       .lowering = "tiles of"});
  ASSERT_EQ(out.values.size(), 1u);
  EXPECT_THAT(out.values[0].span<double>(),
              testing::ElementsAreArray(apps::Heat3d(23, 7)));
}

TEST(AppsTest, Wave2d) {
  const SerialOutcome out =
      RunEveryWay({.file = "wave2d/wave2d.dog",
                   .parameters = {{"N", "43"}, {"T", "17"}},
                   .shape = {.widths = {12, 13}, .depth = 4, .slab_points = 30},
                   .lowering = "tiles of"});
  ASSERT_EQ(out.values.size(), 1u);
  EXPECT_THAT(out.values[0].span<double>(),
              testing::ElementsAreArray(apps::Wave2d(43, 17)));
}

TEST(AppsTest, Acoustic2d) {
  const SerialOutcome out =
      RunEveryWay({.file = "acoustic2d/acoustic2d.dog",
                   .parameters = {{"N", "90"}, {"T", "41"}},
                   .shape = {.widths = {12, 33}, .depth = 4, .slab_points = 30},
                   .lowering = "tiles of"});
  const apps::Sound expected = apps::Acoustic2d(90, 41);
  ASSERT_EQ(out.values.size(), 2u);
  EXPECT_THAT(out.values[0].span<double>(),
              testing::ElementsAreArray(expected.pressure));
  EXPECT_THAT(out.values[1].span<double>(),
              testing::ElementsAreArray(expected.heard));
}

TEST(AppsTest, GrayScott) {
  const SerialOutcome out =
      RunEveryWay({.file = "grayscott/grayscott.dog",
                   .parameters = {{"N", "40"}, {"T", "13"}},
                   .shape = {.widths = {12, 15}, .depth = 4, .slab_points = 30},
                   .lowering = "tiles of"});
  const std::vector<double> expected = apps::GrayScott(40, 13);
  const auto half = expected.begin() + 40 * 40;
  ASSERT_EQ(out.values.size(), 2u);
  EXPECT_THAT(
      out.values[0].span<double>(),
      testing::ElementsAreArray(std::vector<double>(expected.begin(), half)));
  EXPECT_THAT(
      out.values[1].span<double>(),
      testing::ElementsAreArray(std::vector<double>(half, expected.end())));
}

TEST(AppsTest, Maxwell2d) {
  const SerialOutcome out =
      RunEveryWay({.file = "maxwell2d/maxwell2d.dog",
                   .parameters = {{"N", "36"}, {"T", "15"}},
                   .shape = {.widths = {11, 14}, .depth = 3, .slab_points = 30},
                   .lowering = "tiles of"});
  ASSERT_EQ(out.values.size(), 1u);
  EXPECT_THAT(out.values[0].span<double>(),
              testing::ElementsAreArray(apps::Maxwell2d(36, 15)));
}

TEST(AppsTest, Life) {
  const SerialOutcome out =
      RunEveryWay({.file = "life/life.dog",
                   .parameters = {{"N", "34"}, {"T", "12"}},
                   .shape = {.widths = {13, 11}, .depth = 5, .slab_points = 30},
                   .lowering = "tiles of"});
  ASSERT_EQ(out.values.size(), 1u);
  EXPECT_THAT(out.values[0].span<int64_t>(),
              testing::ElementsAreArray(apps::Life(34, 12)));
}

// Fewer planes than a chosen tile is deep.
TEST(AppsTest, ThinFirstDimensions) {
  const KernelCache cache;
  const auto run = [&cache](const std::string& file, const std::string& n,
                            const std::string& t) {
    CompileOptions options = Options();
    options.parameters = {{"N", n}, {"T", t}};
    const std::string text = ReadApp(file);
    SerialOutcome out = MustRun(text, options);
    for (const int64_t workers : {1, 6}) {
      options.target = {.agents = workers, .workers = 1};
      const Job job = MustCompile(text, options);
      EXPECT_THAT(job.lowering, testing::HasSubstr("steps deep"));
      EXPECT_EQ(MustDigest(job, nullptr), out.digest.ToString());
      EXPECT_EQ(MustDigest(job, cache.Source()), out.digest.ToString());
    }
    return out;
  };
  EXPECT_THAT(run("heat2d/heat2d.dog", "20", "400").values[0].span<double>(),
              testing::ElementsAreArray(apps::Heat2d(20, 400)));
  EXPECT_THAT(run("life/life.dog", "10", "100").values[0].span<int64_t>(),
              testing::ElementsAreArray(apps::Life(10, 100)));
}

TEST(AppsTest, SmithWaterman) {
  const SerialOutcome out =
      RunEveryWay({.file = "smithwaterman/smithwaterman.dog",
                   .parameters = {{"N", "37"}},
                   .shape = {.widths = {9}, .depth = 7},
                   .lowering = "point by point"});
  ASSERT_EQ(out.values.size(), 1u);
  EXPECT_THAT(out.values[0].span<int64_t>(),
              testing::ElementsAreArray(apps::SmithWaterman(37)));
}

}  // namespace
}  // namespace dogged::dsl

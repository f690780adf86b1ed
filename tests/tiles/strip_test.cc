// Aim: a pass over a strip gives the results of plain loops, whatever the
// number of its rows; the first of the largest is its pivot, and numbers that
// are not finite are seen. Method: whole numbers, whose sums are exact, with
// the micro-kernels of each width that this processor can run.
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/base/random.h"
#include "tests/tiles/all_kernels.h"

namespace dogged {
namespace {

struct alignas(64) Row : std::array<double, kStrip> {};

class Strip : public testing::TestWithParam<const MicroKernels*> {};

INSTANTIATE_TEST_SUITE_P(Widths, Strip, testing::ValuesIn(AllKernels()),
                         NameOfKernels);

std::vector<Row> Random(Rng& rng, size_t count) {
  std::vector<Row> out(count);
  for (Row& row : out) {
    for (double& x : row) x = static_cast<double>(rng.Below(15)) - 7;
  }
  return out;
}

StripStep StepOf(Rng& rng, int64_t column) {
  StripStep out{.column = column, .scale = column < 0 ? 0.0 : 0.5};
  for (int64_t c = column + 1; column >= 0 && c < kStrip; ++c) {
    out.weights[c] = static_cast<double>(rng.Below(7));
  }
  return out;
}

void TakeStep(const StripStep& step, Row& row) {
  if (step.column < 0) return;
  double& element = row[step.column];
  element *= step.scale;
  for (size_t c = static_cast<size_t>(step.column) + 1; c < kStrip; ++c) {
    row[c] -= element * step.weights[c];
  }
}

TEST_P(Strip, IsReflected) {
  Rng rng(1);
  for (const size_t m : {0, 1, 3, 4, 5, 8, 31}) {
    for (int64_t column = -1; column < kStrip - 1; ++column) {
      SCOPED_TRACE(testing::Message() << m << " rows, column " << column);
      std::vector<Row> rows = Random(rng, m + 1);  // the last is not ours
      std::vector<Row> want = rows;
      const StripStep step = StepOf(rng, column);
      Row sums{};
      for (size_t i = 0; i < m; ++i) {
        TakeStep(step, want[i]);
        const double next = want[i][column + 1];
        for (size_t c = 0; c < kStrip; ++c) sums[c] += next * want[i][c];
      }
      Row found{};
      GetParam()->reflect(static_cast<int64_t>(m), step, rows[0].data(),
                          found.data());
      EXPECT_EQ(found, sums);
      EXPECT_EQ(rows, want);
    }
  }
}

TEST_P(Strip, IsEliminated) {
  Rng rng(2);
  for (const size_t m : {0, 1, 3, 4, 5, 8, 31}) {
    for (int64_t column = -1; column < kStrip - 1; ++column) {
      SCOPED_TRACE(testing::Message() << m << " rows, column " << column);
      std::vector<Row> rows = Random(rng, m + 1);
      std::vector<Row> want = rows;
      const StripStep step = StepOf(rng, column);
      StripPivot pivot;
      for (size_t i = 0; i < m; ++i) {
        TakeStep(step, want[i]);
        const double size = std::abs(want[i][column + 1]);
        if (size <= pivot.magnitude) continue;
        pivot.magnitude = size;
        pivot.row = static_cast<int64_t>(i);
      }
      const StripPivot found =
          GetParam()->eliminate(static_cast<int64_t>(m), step, rows[0].data());
      EXPECT_EQ(found.magnitude, pivot.magnitude);
      EXPECT_EQ(found.row, pivot.row);
      EXPECT_TRUE(found.is_finite);
      EXPECT_EQ(rows, want);
    }
  }
}

TEST_P(Strip, HasNoPivotWithoutNumbers) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    for (const size_t at : {0, 4, 8}) {
      std::vector<Row> rows(9);
      for (Row& row : rows) row.fill(2);
      rows[at][0] = bad;
      EXPECT_FALSE(GetParam()->eliminate(9, {}, rows[0].data()).is_finite);
      rows[at][0] = 1;
      rows[at][1] = bad;  // of no concern yet
      EXPECT_TRUE(GetParam()->eliminate(9, {}, rows[0].data()).is_finite);
    }
  }
}

}  // namespace
}  // namespace dogged

// The code of MicroKernels for strips of a panel, for one width of vectors;
// included as micro_kernels_impl.h is.
#ifndef DOGGED_APPS_TILES_STRIP_KERNELS_IMPL_H_
#define DOGGED_APPS_TILES_STRIP_KERNELS_IMPL_H_

#include "apps/tiles/micro_kernels.h"

namespace dogged {

// Vector: of doubles, by the compiler's attribute vector_size.
template <typename Vector>
struct StripKernelsImpl {
  static constexpr int kLanes = sizeof(Vector) / sizeof(double);
  // Integers as wide as a double.
  using Mask = decltype(Vector{} < Vector{});

  // A row of a strip, or a sum of rows.
  static constexpr int kParts = kStrip / kLanes;
  struct Line {
    Vector parts[kParts];
  };

  // A step, as vectors.
  struct Step {
    explicit Step(const StripStep& step)
        : column(step.column < 0 ? 0 : step.column),
          next(step.column + 1 < kStrip ? step.column + 1 : 0),
          scale(step.scale) {
      __builtin_memcpy(&weights, step.weights, sizeof(weights));
      if (step.column >= 0) chosen[column / kLanes][column % kLanes] = -1;
    }
    // Does it to a row. Returns the element in the next column.
    __attribute__((always_inline)) double Take(double* row, Line& line) const {
      const double v = row[column] * scale;
      __builtin_memcpy(&line, row, sizeof(line));
#pragma GCC unroll 4
      for (int p = 0; p < kParts; ++p) {
        line.parts[p] =
            chosen[p] ? Vector{} + v : line.parts[p] - v * weights.parts[p];
      }
      __builtin_memcpy(row, &line, sizeof(line));
      return row[next];
    }

    int64_t column;
    int64_t next;
    double scale;
    Line weights;
    Mask chosen[kParts] = {};
  };

  __attribute__((always_inline)) static void ReflectRow(const Step& step,
                                                        double* row,
                                                        Line& sum) {
    Line line;
    const double next = step.Take(row, line);
#pragma GCC unroll 4
    for (int p = 0; p < kParts; ++p) sum.parts[p] += next * line.parts[p];
  }

  static void Reflect(int64_t m, const StripStep& step, double* rows,
                      double* sums) {
    const Step vectors(step);
    // Four sums, so that none waits for the one before it.
    Line sum[4] = {};
    int64_t i = 0;
    for (; i + 4 <= m; i += 4) {
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) {
        ReflectRow(vectors, rows + (i + q) * kStrip, sum[q]);
      }
    }
    for (; i < m; ++i) ReflectRow(vectors, rows + i * kStrip, sum[0]);
    for (int p = 0; p < kParts; ++p) {
      sum[0].parts[p] = (sum[0].parts[p] + sum[1].parts[p]) +
                        (sum[2].parts[p] + sum[3].parts[p]);
    }
    __builtin_memcpy(sums, sum, sizeof(Line));
  }

  static StripPivot Eliminate(int64_t m, const StripStep& step, double* rows) {
    const Step vectors(step);
    StripPivot out;
    double poison = 0;  // no number once there was one that is not finite
    for (int64_t i = 0; i < m; ++i) {
      Line line;
      const double next = vectors.Take(rows + i * kStrip, line);
      const double magnitude = __builtin_fabs(next);
      if (magnitude > out.magnitude) {
        out.magnitude = magnitude;
        out.row = i;
      }
      poison += next - next;
    }
    out.is_finite = poison == 0;
    return out;
  }
};

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_STRIP_KERNELS_IMPL_H_

// Pictures of results: a curve for one dimension, a map in colours for two.
// Larger data is reduced to about a thousand pixels by means over blocks;
// numbers that are not finite are drawn in red and counted.
#ifndef DOGGED_APPS_OUTPUT_PLOT_H_
#define DOGGED_APPS_OUTPUT_PLOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "apps/output/canvas.h"
#include "apps/output/index_grid.h"
#include "runtime/base/value.h"

namespace dogged {

// PlotRange: the range that a picture shows, and how many numbers it can't
// show.
struct PlotRange {
  double lower = 0;  // of a map, of the means; both 0 if nothing is finite
  double upper = 0;
  bool is_empty = true;  // nothing is finite
  int64_t not_finite = 0;
};

// The range that Plot shows of `value`. Errors: as Plot.
absl::StatusOr<PlotRange> RangeOf(const Value& value, absl::string_view title);

// Widens `range` to `other`.
void Widen(PlotRange& range, const PlotRange& other);

// A map has one colour for each sign if there are numbers of both, and then 0
// is in the middle of its scale.
//
// Shape:  dimensions of one element do not count; one or two must be left. In
//         a map the first goes down, the second to the right, as in a matrix.
//         `indices`: for the numbers at the axes.
// Errors: kInvalidArgument for another shape, with the way out.
absl::StatusOr<Canvas> Plot(const Value& value, absl::string_view title,
                            const IndexGrid& indices = {},
                            const PlotRange* scale = nullptr);

// A block of data under one pixel.
struct Block {
  double mean = 0;  // of the finite elements; 0 if there is none
  double lower = 0;
  double upper = 0;
  int64_t finite = 0;      // elements
  int64_t not_finite = 0;  // NaN and infinities
};

// `value` cut into `rows` x `columns` blocks as even as can be; a value of one
// dimension is one row.
std::vector<Block> Reduce(const Value& value, int64_t rows, int64_t columns);

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_PLOT_H_

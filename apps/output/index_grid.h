// IndexGrid: the user's indices of a value that is shown: where each dimension
// begins, and how far its elements are apart.
#ifndef DOGGED_APPS_OUTPUT_INDEX_GRID_H_
#define DOGGED_APPS_OUTPUT_INDEX_GRID_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/label.h"

namespace dogged {

// Coordinates along an index: its values times `spacing`.
struct AxisScale {
  double spacing = 1;
  std::string unit;  // "mm"; may be empty
  friend bool operator==(const AxisScale&, const AxisScale&) = default;
};

// Parses "x=0.1,y=0.1 mm": of each index its spacing, and maybe a unit. Errors:
// kInvalidArgument, with the right form.
absl::StatusOr<std::map<std::string, AxisScale>> ParseSpacing(
    absl::string_view text);

// In the fewest digits that give its bits back.
std::string ShortestText(double number);

// An entry for each dimension of the value; a missing one is 0, of `step` 1.
struct IndexGrid {
  IndexVector first;
  IndexVector step;
  std::vector<AxisScale> axes;  // empty: coordinates are the indices

  int64_t FirstOf(int d) const { return d < first.size() ? first[d] : 0; }
  int64_t StepOf(int d) const { return d < step.size() ? step[d] : 1; }
  AxisScale AxisOf(int d) const {
    const auto i = static_cast<size_t>(d);
    return i < axes.size() ? axes[i] : AxisScale{};
  }
  friend bool operator==(const IndexGrid&, const IndexGrid&) = default;
};

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_INDEX_GRID_H_

// IndexGrid: the user's indices of a value that is shown: where each dimension
// begins, and how far its elements are apart.
#ifndef DOGGED_APPS_OUTPUT_INDEX_GRID_H_
#define DOGGED_APPS_OUTPUT_INDEX_GRID_H_

#include <cstdint>

#include "runtime/base/label.h"

namespace dogged {

// An entry for each dimension of the value; a missing one is 0, of `step` 1.
struct IndexGrid {
  IndexVector first;
  IndexVector step;

  int64_t FirstOf(int d) const { return d < first.size() ? first[d] : 0; }
  int64_t StepOf(int d) const { return d < step.size() ? step[d] : 1; }
  friend bool operator==(const IndexGrid&, const IndexGrid&) = default;
};

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_INDEX_GRID_H_

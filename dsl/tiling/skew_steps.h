// SkewSteps: steps by which the points of a recurrence can be computed.
// Internal to skew.
#ifndef DOGGED_DSL_TILING_SKEW_STEPS_H_
#define DOGGED_DSL_TILING_SKEW_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// The label with indices i is made in step factors . i, and each task reads
// labels made 1 to kLagMax steps before, or in its own place.
struct SkewSteps {
  std::vector<int64_t> factors;
  size_t replaced = 0;  // an index with factor 1 or -1, for which steps stand
};

// The steps of the arrays that are fields, all of one rank. None if tasks read
// at distances that vary, an index is time as it is, or nothing does.
std::optional<SkewSteps> FindSkewSteps(const PointProgram& points,
                                       const std::vector<bool>& is_field);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_SKEW_STEPS_H_

// Reductions of arrays with time that leave points of a box out: over a disc, a
// triangle, all but an obstacle. Internal to program_split.
#ifndef DOGGED_DSL_TILING_MASKED_REDUCTIONS_H_
#define DOGGED_DSL_TILING_MASKED_REDUCTIONS_H_

#include <optional>

#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// Lets `reduction`, if tiles can't give its points as they are, go over a box
// of an array that becomes the last one of `points`, and returns the tasks that
// make this array: it is neutral where the reduction has no point. None, and
// nothing is changed, if no such array is needed or a box is of no help.
std::optional<PointClass> MaskPoints(PointReduction& reduction,
                                     PointProgram& points);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_MASKED_REDUCTIONS_H_

// A PointProgram as a graph::Program with one task per point. Coalesce() is the
// other way from there.
#ifndef DOGGED_DSL_LOWER_LOWER_POINTS_H_
#define DOGGED_DSL_LOWER_LOWER_POINTS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "dsl/ir/point_program.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

// kInvalidArgument if the description is malformed.
absl::StatusOr<Program> LowerPoints(const PointProgram& points,
                                    const TargetSize& target);

// The user's indices of a result that has one label per point, result set
// `result_set` of the program.
ResultView ViewOfPoints(const PointProgram& points, const PointResult& result,
                        int32_t result_set);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_LOWER_POINTS_H_

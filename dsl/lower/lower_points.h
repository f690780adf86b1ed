// A PointProgram as a graph::Program with one task per point. Coalesce() is the
// other way from there.
#ifndef DOGGED_DSL_LOWER_LOWER_POINTS_H_
#define DOGGED_DSL_LOWER_LOWER_POINTS_H_

#include "absl/status/statusor.h"
#include "dsl/ir/point_program.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

// kInvalidArgument if the description is malformed.
absl::StatusOr<Program> LowerPoints(const PointProgram& points,
                                    const TargetSize& target);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_LOWER_POINTS_H_

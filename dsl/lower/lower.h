// Lower: from a checked and analysed program to the form that agents run. Two
// steps: the meaning of every task as numbers and code blocks (PointProgram),
// then a graph::Program with one task per point. Coalesce() takes the other
// way from the first step.
#ifndef DOGGED_DSL_LOWER_LOWER_H_
#define DOGGED_DSL_LOWER_LOWER_H_

#include <string>

#include "dsl/check/checked.h"
#include "dsl/ir/point_program.h"
#include "dsl/text/diagnostics.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

// `program` has passed Check and Analyze without errors. What the back end
// can't do is an error in `diagnostics`, and the result of no use.
PointProgram MakePointProgram(const CheckedProgram& program,
                              const std::string& name,
                              Diagnostics& diagnostics);

// One task per point. kInvalidArgument if the description is malformed.
absl::StatusOr<Program> LowerPoints(const PointProgram& points,
                                    const TargetSize& target);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_LOWER_H_

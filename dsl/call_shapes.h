// Calls of kernels with blocks that they can't take, as a factorisation of a
// matrix with fewer rows than columns: told before anything runs.
#ifndef DOGGED_DSL_CALL_SHAPES_H_
#define DOGGED_DSL_CALL_SHAPES_H_

#include "dsl/check/checked.h"
#include "dsl/ir/point_program.h"
#include "dsl/text/diagnostics.h"
#include "runtime/graph/kernel.h"

namespace dogged::dsl {

// `points` were made of `checked`. Of each task at most some thousand points
// are looked at: a kernel looks at its blocks again as it runs.
void CheckCallShapes(const CheckedProgram& checked, const PointProgram& points,
                     const KernelRegistry& registry, Diagnostics& diagnostics);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CALL_SHAPES_H_

// Recognizes uniform stencils: programs whose tasks read at constant distances
// in space and at the same or an earlier time.
#ifndef DOGGED_DSL_TILING_STENCIL_H_
#define DOGGED_DSL_TILING_STENCIL_H_

#include "absl/status/statusor.h"
#include "dsl/ir/point_program.h"
#include "dsl/ir/tile_plan.h"

namespace dogged::dsl {

// Pieces that look inwards from the edge of the domain do so by less than
// this; so wide must the outermost tiles be.
inline constexpr int64_t kEdgeWidth = 9;

// A plan with one tile and depth as small as it can be: everything but the
// tiles' shape. kUnimplemented, with the reason as a clause ("task t calls a
// kernel"), if the program is no uniform stencil.
absl::StatusOr<TilePlan> RecognizeStencil(const PointProgram& points);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_STENCIL_H_

// How views of lifted results are told by the indices that these had.
#ifndef DOGGED_DSL_TILING_LIFT_VIEWS_H_
#define DOGGED_DSL_TILING_LIFT_VIEWS_H_

#include "dsl/tiling/coalesce.h"
#include "dsl/tiling/lift.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

// Lets the views of `program`, lowered from `lifted` in tiles of `shape`, speak
// of the indices that arrays had. False if tiles end between these: `shape` is
// then one whose tiles don't.
bool UnliftViews(const LiftedProgram& lifted, Program& program,
                 TileShape& shape);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_LIFT_VIEWS_H_

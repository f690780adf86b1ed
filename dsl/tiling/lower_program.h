// LowerProgram: from a PointProgram to the form that agents run, in tiles where
// that is possible. Tasks that depend on reductions stand behind the tiles,
// point by point.
#ifndef DOGGED_DSL_TILING_LOWER_PROGRAM_H_
#define DOGGED_DSL_TILING_LOWER_PROGRAM_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "dsl/ir/point_program.h"
#include "dsl/tiling/coalesce.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

// Lowers to tiles (of `shape` if there is one) if that is wanted and possible,
// and says in `how` which form it took.
absl::StatusOr<Program> LowerProgram(const PointProgram& points,
                                     const TargetSize& target, bool coalesce,
                                     const std::optional<TileShape>& shape,
                                     std::string& how);

// Whether tiles of `program`, which LowerProgram made, read nothing of each
// other in space, but coefficients that do not lie there, which each makes for
// itself: a product of matrices or the like.
bool GathersWithoutHalo(const Program& program);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_LOWER_PROGRAM_H_

// Coalesce: point tasks of a uniform stencil become tile tasks with depth in
// time. The result is a dependency description again, with affine maps, and
// gives the bits of the point program.
//
// Source: [REM] lists coalescing as future work. See tile_plan.h.
#ifndef DOGGED_DSL_TILING_COALESCE_H_
#define DOGGED_DSL_TILING_COALESCE_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "dsl/ir/point_program.h"
#include "dsl/ir/tile_plan.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

struct TileShape {
  std::vector<int64_t> widths;  // by space dimension; empty: one tile
  int64_t depth = 1;            // temporal
  int64_t slab_points = kSlabPoints;
};

// The tile program. `shape` is chosen for `target` unless given, and made
// legal in any case. It is not checked, for it may not be whole: of a loop it
// lacks the condition, and arrays of scalar inputs are taken to stand behind
// its own, in the order of points.arrays. kUnimplemented, with the reason as a
// clause, if the program is no uniform stencil.
absl::StatusOr<Program> Coalesce(const PointProgram& points,
                                 const TargetSize& target,
                                 const std::optional<TileShape>& shape);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_COALESCE_H_

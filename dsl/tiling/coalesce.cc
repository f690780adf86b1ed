#include "dsl/tiling/coalesce.h"

#include <vector>

#include "dsl/tiling/stencil.h"
#include "dsl/tiling/tile_program_maker.h"
#include "dsl/tiling/tile_rounds.h"
#include "dsl/tiling/tile_shape.h"
#include "runtime/base/status.h"

namespace dogged::dsl {

absl::StatusOr<Program> Coalesce(const PointProgram& points,
                                 const TargetSize& target,
                                 const std::optional<TileShape>& shape) {
  DOGGED_ASSIGN_OR_RETURN(TilePlan plan, RecognizeStencil(points));
  if (points.repeat) DOGGED_RETURN_IF_ERROR(FitRounds(points, plan));
  if (shape.has_value()) plan.slab_points = shape->slab_points;
  if (shape.has_value() && shape->widths.empty()) {
    const std::vector<int64_t> whole = plan.widths;
    SetTileShape(whole, shape->depth, plan);
  } else if (shape.has_value()) {
    if (static_cast<int>(shape->widths.size()) != plan.dim_count()) {
      return absl::InvalidArgumentError("a tile width per dimension of space");
    }
    SetTileShape(shape->widths, shape->depth, plan);
  } else {
    ChooseTileShape(target, plan);
  }
  return TileProgramMaker(points, plan, target).Make();
}

}  // namespace dogged::dsl

// The shape of tiles: widths and temporal depth. A function of the program,
// its parameters and the nominal target alone, so that all clients that lower a
// job get the same tiles.
#ifndef DOGGED_DSL_TILING_TILE_SHAPE_H_
#define DOGGED_DSL_TILING_TILE_SHAPE_H_

#include <vector>

#include "absl/status/status.h"
#include "dsl/ir/point_program.h"
#include "dsl/ir/tile_plan.h"

namespace dogged::dsl {

// Gives `plan` tiles of `widths` and `depth` time steps, or the nearest shape
// that is legal: depth at most the time steps there are, in a loop so that
// blocks end where rounds do; tiles no narrower than the halo, and wide enough
// at the edges.
void SetTileShape(const std::vector<int64_t>& widths, int64_t depth,
                  TilePlan& plan);

// Gives `plan` the shape that a simple model of caches, copies and task
// overhead finds cheapest for `target`.
void ChooseTileShape(const TargetSize& target, TilePlan& plan);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_TILE_SHAPE_H_

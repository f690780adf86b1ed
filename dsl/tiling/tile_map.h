// Index maps of tasks over tiles and blocks.
#ifndef DOGGED_DSL_TILING_TILE_MAP_H_
#define DOGGED_DSL_TILING_TILE_MAP_H_

#include <cstdint>
#include <optional>

#include "dsl/ir/tile_plan.h"
#include "runtime/graph/affine.h"

namespace dogged::dsl {

// A tile, less `minus` if there is one, and then `block` if there is one.
AffineMap TileMap(int32_t dim_count, std::optional<AffineExpr> block,
                  const IndexVector* minus = nullptr);

// The last time step of a block, which is the index behind those of tiles.
AffineExpr BlockEnd(const TilePlan& plan);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_TILE_MAP_H_

#include "dsl/tiling/tile_map.h"

namespace dogged::dsl {

AffineMap TileMap(int32_t dim_count, std::optional<AffineExpr> block,
                  const IndexVector* minus) {
  AffineMap map;
  for (int32_t d = 0; d < dim_count; ++d) {
    map.push_back(AffineExpr::Index(d, minus == nullptr ? 0 : -(*minus)[d]));
  }
  if (block.has_value()) map.push_back(*block);
  return map;
}

AffineExpr BlockEnd(const TilePlan& plan) {
  return AffineExpr::Index(plan.dim_count()) * plan.depth +
         AffineExpr::Constant(plan.base_time_step);
}

}  // namespace dogged::dsl

// What tiles of a loop nest give each other: from flows of points to parcels.
//
// Source: Bondhugula 2013, Dathathri et al. 2016 (what leaves a tile, and which
// tiles get it). Differs: a tile names the tiles that it reads by affine maps
// with constant offsets, so that both directions stay formulas.
#ifndef DOGGED_DSL_NEST_TILE_FLOWS_H_
#define DOGGED_DSL_NEST_TILE_FLOWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "dsl/nest/nest.h"

namespace dogged::dsl {

// Fills in tiles, groups, parcels, deliveries and mirrors. Errors:
// kOutOfRange where a tile would read from more tiles than a description can
// name.
absl::Status FindTileFlows(Nest& nest);

// Components whose tiles have buffers of more than `elements_max` values;
// versions that overwrite each other count once (fold_groups.h).
std::vector<int32_t> ComponentsBeyond(const Nest& nest, int64_t elements_max);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_TILE_FLOWS_H_

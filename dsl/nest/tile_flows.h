// What tiles of a loop nest give each other: from flows of points to parcels.
//
// Source: Bondhugula 2013, Dathathri et al. 2016 (what leaves a tile, and which
// tiles get it). Differs: a tile names the tiles that it reads by affine maps
// with constant offsets, so that both directions stay formulas.
#ifndef DOGGED_DSL_NEST_TILE_FLOWS_H_
#define DOGGED_DSL_NEST_TILE_FLOWS_H_

#include "absl/status/status.h"
#include "dsl/nest/nest.h"

namespace dogged::dsl {

// Fills in tiles, groups, parcels, deliveries and mirrors. Errors:
// kUnimplemented where a tile would read from more tiles than a description
// can name; kResourceExhausted where its buffers would be too large.
absl::Status FindTileFlows(Nest& nest);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_TILE_FLOWS_H_

// Sizes of the tiles of a loop nest.
#ifndef DOGGED_DSL_NEST_TILE_SIZES_H_
#define DOGGED_DSL_NEST_TILE_SIZES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "dsl/ir/point_program.h"
#include "dsl/nest/nest.h"

namespace dogged::dsl {

// Fills in the sizes, a function of the nest and the target alone: about as
// many points a tile as its component says, and tiles enough for all workers.
// Tile indices that flows join have one size, so that tiles that need each
// other are found by affine maps. Tiles that are read by one all along an
// index, which names each of them, are `sources_max` at most, and larger if
// need be; 0: any number. `widths`, if there are any, are taken instead, in
// turns.
void ChooseSizes(const TargetSize& target, int64_t sources_max,
                 absl::Span<const int64_t> widths, Nest& nest);

// Whether a nest has so few points that tiles are not worth a task each.
bool HasFewPoints(const Nest& nest);

// The values of a hyperplane, and how many there are.
Span RangeOf(const Nest& nest, const NestPoint& point, const AffineExpr& theta);
int64_t ExtentOf(const Nest& nest, const NestPoint& point,
                 const AffineExpr& theta);

// Whether flows join an index of planes with one within planes, so that both
// would have the size of the former.
bool HasMixedIndices(const Nest& nest);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_TILE_SIZES_H_

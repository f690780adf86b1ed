// The order of points within a tile: which hyperplane runs innermost, and
// whether it does so along wavefronts.
//
// Source: Wolfe 1986 (wavefronts by skewing).
#ifndef DOGGED_DSL_NEST_ARRANGE_TILE_H_
#define DOGGED_DSL_NEST_ARRANGE_TILE_H_

#include "dsl/nest/nest.h"

namespace dogged::dsl {

// Puts the member of the component's band that runs best innermost, or sums of
// it and another one around it: all orders of a band are good. `component` need
// not be one of the nest's yet, its points are.
void ArrangeTile(NestComponent& component, Nest& nest);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_ARRANGE_TILE_H_

// Tables of few places, written out: a task class for each place, whose indices
// are affine. So a stencil with some receivers stays in tiles.
#ifndef DOGGED_DSL_LOWER_PLACES_APART_H_
#define DOGGED_DSL_LOWER_PLACES_APART_H_

#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// `points` with its tables written out, if they have few places in all, and no
// task with tables reads what is made of its own.
PointProgram WithPlacesApart(PointProgram points);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_PLACES_APART_H_

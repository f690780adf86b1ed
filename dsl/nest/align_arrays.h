// Arrays by the hyperplanes of the tiles that make them. Internal to dsl/nest.
#ifndef DOGGED_DSL_NEST_ALIGN_ARRAYS_H_
#define DOGGED_DSL_NEST_ALIGN_ARRAYS_H_

#include "dsl/nest/nest.h"

namespace dogged::dsl {

// Gives the elements of each array that skewed tiles make other indices: those
// hyperplanes, and of the array's own as many as lack. What a tile holds, and
// what leaves it, is a box of those, where a box of the array around it would
// be mostly empty. An array stays as it is where no statement makes an element
// at each of its points, by their indices in some order.
void AlignArrays(Nest& nest);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_ALIGN_ARRAYS_H_

// Counting the points of a domain without visiting each of them.
#ifndef DOGGED_RUNTIME_GRAPH_POINT_COUNT_H_
#define DOGGED_RUNTIME_GRAPH_POINT_COUNT_H_

#include <cstdint>

#include "runtime/graph/domain.h"

namespace dogged {

// The number of points; exact. Saturates at INT64_MAX.
//
// Goes through the dimensions from the outside. Values of an index with equal
// state are counted once: the state is the guards that hold for certain, the
// guards that cannot hold any more, the sums of the remaining ones so far, and
// the inner bounds. Values that are alike are not visited either. So a box
// takes a step for each dimension, a guard at its edge or of every m-th point a
// few, a triangle one for each value of the outer index.
int64_t CountPoints(const Domain& domain);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_POINT_COUNT_H_

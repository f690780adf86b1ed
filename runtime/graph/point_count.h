// Counting the points of a domain without visiting each of them.
#ifndef DOGGED_RUNTIME_GRAPH_POINT_COUNT_H_
#define DOGGED_RUNTIME_GRAPH_POINT_COUNT_H_

#include <cstdint>

#include "runtime/graph/domain.h"

namespace dogged {

// The number of points; exact. Saturates at INT64_MAX.
//
// Goes through the dimensions from the outside, and counts what lies within
// once for all values of an index that leave the same to be decided: which
// guards hold whatever follows, which can't hold any more, by how much the
// others are off, and where the inner bounds are. Values that are alike are not
// visited either. So a box takes a step for each dimension, a guard at its rim
// or of every m-th point a few, a triangle one for each value of the outer
// index.
int64_t CountPoints(const Domain& domain);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_POINT_COUNT_H_

// Told indices: a result such as a(i)(j)(i), the rows of a matrix as each is
// when a step has finished it, has an index that the others tell. Its labels
// are few in a box of many: n*n in n*n*n.
#ifndef DOGGED_DSL_LOWER_TOLD_INDICES_H_
#define DOGGED_DSL_LOWER_TOLD_INDICES_H_

#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// `points` with such a result in an array of its own, without the indices that
// are told: a task copies each value there. The result keeps its name, so its
// file is a(i)(j), n x n; the array that it was of is called a' from then on.
// Results that share an array, loops, blocks and inputs stay as they are.
PointProgram WithoutToldIndices(PointProgram points);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_TOLD_INDICES_H_

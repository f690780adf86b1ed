// Extents: the smallest box of all labels of each array.
#ifndef DOGGED_DSL_ISL_EXTENTS_H_
#define DOGGED_DSL_ISL_EXTENTS_H_

#include "dsl/isl/proof.h"

namespace dogged::dsl {

// Fills in CheckedArray::lower and upper. Errors: indices without an end.
void FillInExtents(Proof& proof);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_EXTENTS_H_

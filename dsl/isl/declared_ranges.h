// Declared ranges: labels stay within the ranges of their arrays.
#ifndef DOGGED_DSL_ISL_DECLARED_RANGES_H_
#define DOGGED_DSL_ISL_DECLARED_RANGES_H_

#include "dsl/isl/proof.h"

namespace dogged::dsl {

// Errors: a task creates or reads, or a result wants, a label outside of its
// array. Beyond the ends of a ring tasks may read.
void CheckDeclaredRanges(Proof& proof);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_DECLARED_RANGES_H_

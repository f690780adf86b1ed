// Single assignment: no label has two producers.
#ifndef DOGGED_DSL_ISL_SINGLE_ASSIGNMENT_H_
#define DOGGED_DSL_ISL_SINGLE_ASSIGNMENT_H_

#include "dsl/isl/proof.h"

namespace dogged::dsl {

// Errors: a task creates a label twice, or two tasks do. Boundaries that meet
// are told which conditions would part them.
void CheckSingleAssignment(Proof& proof);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_SINGLE_ASSIGNMENT_H_

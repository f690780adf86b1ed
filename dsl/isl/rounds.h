// Rounds: labels which a loop's tasks read exist, in whatever round the loop
// ends.
#ifndef DOGGED_DSL_ISL_ROUNDS_H_
#define DOGGED_DSL_ISL_ROUNDS_H_

#include "dsl/isl/proof.h"

namespace dogged::dsl {

// With symbols there is nothing to do: a proof with them is one for every
// round. Errors: a task reads what a later round makes.
void CheckRounds(Proof& proof);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_ROUNDS_H_

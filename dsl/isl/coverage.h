// Coverage: every label that is read or wanted has a producer.
#ifndef DOGGED_DSL_ISL_COVERAGE_H_
#define DOGGED_DSL_ISL_COVERAGE_H_

#include "dsl/isl/proof.h"

namespace dogged::dsl {

// Errors: labels without one, piece by piece, with the task or the result that
// needs them.
void CheckCoverage(Proof& proof);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_COVERAGE_H_

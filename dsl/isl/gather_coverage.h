// CheckGathers: that each label which a task reads by tables has a producer,
// task by task. Part of the isl adapter.
#ifndef DOGGED_DSL_ISL_GATHER_COVERAGE_H_
#define DOGGED_DSL_ISL_GATHER_COVERAGE_H_

#include <cstdint>

#include "dsl/isl/proof.h"

namespace dogged::dsl {

// Reports the first label of `array` without a producer that each use with
// tables reads.
void CheckGathers(Proof& proof, int32_t array);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_GATHER_COVERAGE_H_

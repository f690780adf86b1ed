// Order: no task waits for itself.
#ifndef DOGGED_DSL_ISL_TASK_ORDER_H_
#define DOGGED_DSL_ISL_TASK_ORDER_H_

#include "dsl/isl/proof.h"

namespace dogged::dsl {

// Errors: a cycle, task by task. Warnings: neither a proof nor a cycle was
// found.
void CheckOrder(Proof& proof);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_TASK_ORDER_H_

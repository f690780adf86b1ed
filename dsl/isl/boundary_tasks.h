// Boundary tasks: a boundary is a task for the labels of its form that
// something reads or wants and no task creates.
#ifndef DOGGED_DSL_ISL_BOUNDARY_TASKS_H_
#define DOGGED_DSL_ISL_BOUNDARY_TASKS_H_

#include "dsl/isl/proof.h"

namespace dogged::dsl {

// Makes tasks of each boundary. Periodic boundaries come last and take the
// remaining labels, in their order. Errors: labels without a simple range, a
// ring that would be led round too often. Warnings: boundary_warnings.h.
void AddBoundaryTasks(Proof& proof);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_BOUNDARY_TASKS_H_

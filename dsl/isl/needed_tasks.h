// Needed tasks: the points of each task that some result needs.
#ifndef DOGGED_DSL_ISL_NEEDED_TASKS_H_
#define DOGGED_DSL_ISL_NEEDED_TASKS_H_

#include "dsl/isl/proof.h"

namespace dogged::dsl {

// Fills in CheckedTask::needed and is_all_needed, and every_task_needed. There
// is no cycle. Warnings: tasks that no result needs.
void FindNeededTasks(Proof& proof);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_NEEDED_TASKS_H_

// Deferral: tasks of a loop whose outputs nobody reads in the round in which
// they could run first go to a later one. ADR-26.
#ifndef DOGGED_DSL_LOWER_DEFERRAL_H_
#define DOGGED_DSL_LOWER_DEFERRAL_H_

#include "runtime/graph/program.h"

namespace dogged::dsl {

// Changes the times of classes. Each goes to the round of its first reader, or
// of its result, as far as one index tells. So a task that only a next round
// reads is not run before that is known to come; nor is a boundary of all
// rounds whose ranges are numbers, which no bound puts into any but the first.
// `program` has a loop.
void DeferTasks(Program& program);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_DEFERRAL_H_

// Tasks of a loop whose outputs nobody reads in the round in which they could
// run first are put off to a later one. docs/adr/0063-loops-forward.md.
#ifndef DOGGED_DSL_PUT_OFF_H_
#define DOGGED_DSL_PUT_OFF_H_

#include "runtime/graph/program.h"

namespace dogged::dsl {

// Puts those off that require nothing and are in the first round as no bound of
// them names the loop's parameter: a boundary whose ranges are numbers, for
// one. Each goes to the round of who first reads what it makes, as far as one
// index tells; else all that a long loop could read would be made before its
// second round. `program` has a loop.
void PutOffLeaves(Program& program);

// Likewise all tasks, and whoever only they read.
void PutOffTasks(Program& program);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_PUT_OFF_H_

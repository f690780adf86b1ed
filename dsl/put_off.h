// Tasks of a loop that nobody reads in the round in which they could run first
// are put off to a later one. docs/adr/0063-loops-forward.md.
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

// Likewise all tasks of `needed`, which is `whole`, a program with a loop, with
// those tasks alone that its last round needs, class by class. True if `needed`
// may be run in its place: what it leaves out would come after the last round,
// so no earlier round needs it either, wherever the loop ends. Elsewhere it is
// of no use.
bool PutOffAll(const Program& whole, Program& needed);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_PUT_OFF_H_

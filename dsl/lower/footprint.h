// Footprint: bytes of all values of a run, an estimate from the description
// alone. Memory of kernels is not in it; of the overhead of values only that of
// runs by points, where it is most of all.
#ifndef DOGGED_DSL_LOWER_FOOTPRINT_H_
#define DOGGED_DSL_LOWER_FOOTPRINT_H_

#include <string>

#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// In bytes, of one copy of each.
struct Footprint {
  double results = 0;
  double inputs = 0;  // that come from files
  // Values that tasks to come read, while a run goes from version to version:
  // two of each row, all of arrays without versions, and all that is read of an
  // array by one that goes along another index, for which it waits.
  double in_use = 0;
  // Tables of indices, in each process that has the job: an estimate.
  double tables = 0;
  // An array that is made of itself and follows no versions, so that nothing is
  // known of it: it is not in `in_use`. Empty: there is none.
  std::string unknown;
  // A run by points: what one process holds beside the numbers, in headers
  // of values, records of tasks and tables of results. In tiles 0.
  double beside = 0;
  // All agents of such a run, which hold digests of labels that are gone, and
  // two copies of each value.
  double beside_on_agents = 0;
};

// Whether many points of `domain` read the same label by `map`. Agents wake all
// of them when that label is there, and hold a record of each until it has the
// rest; one process does so if the label begins them.
bool IsSharedRead(const Domain& domain, const Use& use);

// The memory of `program`, which was made of `points`.
Footprint FootprintOf(const PointProgram& points, const Program& program);
// If each point is a task of its own.
Footprint PointFootprintOf(const PointProgram& points);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_FOOTPRINT_H_

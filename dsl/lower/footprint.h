// Footprint: bytes of all values of a run, an estimate from the description
// alone. Overhead of values and memory of kernels are not in it.
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
  // two of each row, and all of arrays without versions.
  double in_use = 0;
  // An array that is made of itself and follows no versions, so that nothing is
  // known of it: it is not in `in_use`. Empty: there is none.
  std::string unknown;
};

Footprint FootprintOf(const PointProgram& points);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_FOOTPRINT_H_

// From a point program to the statements of a loop nest, with exact
// dependences.
#ifndef DOGGED_DSL_NEST_READ_NEST_H_
#define DOGGED_DSL_NEST_READ_NEST_H_

#include "absl/status/statusor.h"
#include "dsl/ir/point_program.h"
#include "dsl/nest/nest.h"

namespace dogged::dsl {

// The statements and flows of `points`, which has its files in the code of
// tasks that read them. Errors: kUnimplemented, with the reason as a clause,
// for a program that is no loop nest of scalars.
absl::StatusOr<Nest> ReadNest(const PointProgram& points, isl::ctx context);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_READ_NEST_H_

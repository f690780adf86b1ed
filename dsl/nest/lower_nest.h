// LowerNest: from a PointProgram to tiles of its loop nests: the general way,
// for every program of scalars whose maps are affine. Part of an isl adapter:
// only executables link it, and hand it to the compiler as they do the
// analysis.
#ifndef DOGGED_DSL_NEST_LOWER_NEST_H_
#define DOGGED_DSL_NEST_LOWER_NEST_H_

#include <string>

#include "absl/status/statusor.h"
#include "dsl/ir/point_program.h"
#include "dsl/lower/nest_lowering.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

// A LowerNestFunction. Errors: kUnimplemented, with the reason as a clause, for
// a program that this way does not take; it ends in bounded time.
//
// Source: Bondhugula et al. 2008; Bondhugula 2013; see ADR-33.
absl::StatusOr<Program> LowerNestWithIsl(const PointProgram& points,
                                         const NestTarget& target,
                                         std::string& how);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_LOWER_NEST_H_

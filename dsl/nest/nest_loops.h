// Loops of a NestBody by isl's AST generator.
//
// Source: Grosser, Verdoolaege & Cohen 2015 (polyhedral AST generation).
#ifndef DOGGED_DSL_NEST_NEST_LOOPS_H_
#define DOGGED_DSL_NEST_NEST_LOOPS_H_

#include <isl/cpp.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "dsl/ir/nest_body.h"

namespace dogged::dsl {

// Adds loops that run through the domain of `order` in the order of its images
// to the node `parent`. Tuple "X5" is statement 5 of the body; parameters T0,
// T1, ... are the tile's indices, within `tiles`. An innermost loop over
// dimension `parallel` of the order is marked as parallel.
absl::Status AddLoops(const isl::union_map& order, const isl::set& tiles,
                      int parallel, int32_t parent, NestBody& body);

// The tuple of a statement.
std::string StatementTuple(size_t statement);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_NEST_LOOPS_H_

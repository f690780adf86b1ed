// Size: more declarations than anybody writes are refused before they are
// checked.
#ifndef DOGGED_DSL_CHECK_CHECK_SIZE_H_
#define DOGGED_DSL_CHECK_CHECK_SIZE_H_

#include "dsl/text/ast.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// True, and reported, if a part of `program` is too long.
bool IsTooLong(const ast::Program& program, Diagnostics& diagnostics);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_CHECK_SIZE_H_

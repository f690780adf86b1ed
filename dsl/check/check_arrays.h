// Arrays: their declarations, and that something creates each of them.
#ifndef DOGGED_DSL_CHECK_CHECK_ARRAYS_H_
#define DOGGED_DSL_CHECK_CHECK_ARRAYS_H_

#include "dsl/check/check_context.h"
#include "dsl/text/ast.h"

namespace dogged::dsl {

void DeclareArray(CheckContext& context, const ast::Array& declared);

// Every array that something reads or wants has something that creates it.
// After all other declarations. Warns of an array that nothing uses.
void CheckCreators(CheckContext& context, const ast::Program& program);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_CHECK_ARRAYS_H_

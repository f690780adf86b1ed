// Reductions: labels made of all points of a range.
#ifndef DOGGED_DSL_CHECK_CHECK_REDUCTIONS_H_
#define DOGGED_DSL_CHECK_CHECK_REDUCTIONS_H_

#include "dsl/check/check_context.h"
#include "dsl/text/ast.h"

namespace dogged::dsl {

void CheckReduction(CheckContext& context, const ast::Reduction& declared);

// Gives the arrays of reductions the element types of their sources, which
// other reductions may make, on earlier or later lines. Before tasks.
void TypeReductions(CheckContext& context);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_CHECK_REDUCTIONS_H_

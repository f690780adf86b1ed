// Boundaries: labels by form, a number or periodic.
#ifndef DOGGED_DSL_CHECK_CHECK_BOUNDARIES_H_
#define DOGGED_DSL_CHECK_CHECK_BOUNDARIES_H_

#include "dsl/check/check_context.h"
#include "dsl/text/ast.h"

namespace dogged::dsl {

void CheckBoundary(CheckContext& context, const ast::Boundary& declared);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_CHECK_BOUNDARIES_H_

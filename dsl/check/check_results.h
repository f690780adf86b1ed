// Results of the program, and the files that they go to.
#ifndef DOGGED_DSL_CHECK_CHECK_RESULTS_H_
#define DOGGED_DSL_CHECK_CHECK_RESULTS_H_

#include "dsl/check/check_context.h"
#include "dsl/text/ast.h"

namespace dogged::dsl {

void CheckResult(CheckContext& context, const ast::Result& declared);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_CHECK_RESULTS_H_

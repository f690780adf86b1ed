// Tasks: what they create and use, their code or their call.
#ifndef DOGGED_DSL_CHECK_CHECK_TASKS_H_
#define DOGGED_DSL_CHECK_CHECK_TASKS_H_

#include "dsl/check/check_context.h"
#include "dsl/text/ast.h"

namespace dogged::dsl {

void CheckTask(CheckContext& context, const ast::Task& declared);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_CHECK_TASKS_H_

// Inputs: arrays from files, with what stands in where there is none.
#ifndef DOGGED_DSL_CHECK_CHECK_INPUTS_H_
#define DOGGED_DSL_CHECK_CHECK_INPUTS_H_

#include "dsl/check/check_context.h"
#include "dsl/text/ast.h"

namespace dogged::dsl {

void CheckInput(CheckContext& context, const ast::Input& declared);

// Every file that is given belongs to an input.
void CheckInputFiles(CheckContext& context, const ast::Program& program);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_CHECK_INPUTS_H_

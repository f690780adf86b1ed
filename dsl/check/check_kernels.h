// Kernels: their declarations, and calls of them.
#ifndef DOGGED_DSL_CHECK_CHECK_KERNELS_H_
#define DOGGED_DSL_CHECK_CHECK_KERNELS_H_

#include "dsl/check/check_context.h"
#include "dsl/text/ast.h"

namespace dogged::dsl {

// Declares a kernel without a library: matches a native one.
void DeclareKernel(CheckContext& context, const ast::Kernel& declared);

// Fills in the call of `task`, which has all its creates and uses.
void CheckCall(CheckContext& context, const ast::Call& call, Scope& scope,
               CheckedTask& task);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_CHECK_KERNELS_H_

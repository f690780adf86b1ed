// The row-chunk interpreter: runs a code block one operation at a time over
// chunks of a row, so that each operation is a short loop that the compiler
// of this file has vectorised. Needs no compiler at run time, and is the
// oracle of the tests: the C generator must give the same bits.
#ifndef DOGGED_DSL_KERNELS_INTERPRETER_H_
#define DOGGED_DSL_KERNELS_INTERPRETER_H_

#include <memory>

#include "dsl/ir/kernel_ir.h"

namespace dogged::dsl {

// `block` as decoded or built through CodeBuilder.
std::unique_ptr<BoxFunction> Interpret(CodeBlock block);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_INTERPRETER_H_

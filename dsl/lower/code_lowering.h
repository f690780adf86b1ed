// Typed expressions of the tree to nodes of a code block.
#ifndef DOGGED_DSL_LOWER_CODE_LOWERING_H_
#define DOGGED_DSL_LOWER_CODE_LOWERING_H_

#include <vector>

#include "dsl/check/checked.h"
#include "dsl/ir/kernel_ir.h"
#include "dsl/text/ast.h"

namespace dogged::dsl {

IrType IrTypeOf(Type type);

// CodeScope: nodes that names stand for in the block that is being built.
struct CodeScope {
  const CheckedProgram* program = nullptr;
  std::vector<int32_t> dimensions;
  std::vector<int32_t> uses;
  std::vector<int32_t> creates;  // as assigned last
  std::vector<int32_t> locals;   // by statement
};

// Adds `expr`, which Check has typed, to `builder`; returns its node.
int32_t LowerExpr(const ast::Expr& expr, const CodeScope& scope,
                  CodeBuilder& builder);

// The code of `task`, over its dimensions (one if it has none) and, if
// `has_elements`, the elements of a block behind them.
CodeBlock LowerCode(const CheckedTask& task, const CheckedProgram& program,
                    bool has_elements);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_CODE_LOWERING_H_

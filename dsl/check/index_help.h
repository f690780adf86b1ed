// What is said of an index that is not affine. Pure.
#ifndef DOGGED_DSL_CHECK_INDEX_HELP_H_
#define DOGGED_DSL_CHECK_INDEX_HELP_H_

#include <string>
#include <vector>

#include "dsl/text/ast.h"

namespace dogged::dsl {

// Of an index, an end of a range or a condition.
std::string HelpWithIndex(const ast::Expr& expr);

// Of index `i` of a label that a task reads, which leads round a ring by a
// remainder, u((x-1) % N)(t): how that is said here. Empty if it is no such
// index. `indices` are the names of the task's.
std::string HelpWithRing(const ast::Ref& ref, size_t i,
                         const std::vector<std::string>& indices);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_INDEX_HELP_H_

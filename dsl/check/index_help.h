// Help with an index that is not affine. Pure.
#ifndef DOGGED_DSL_CHECK_INDEX_HELP_H_
#define DOGGED_DSL_CHECK_INDEX_HELP_H_

#include <string>
#include <vector>

#include "dsl/text/ast.h"

namespace dogged::dsl {

// Help with an index, an end of a range or a condition.
std::string HelpWithIndex(const ast::Expr& expr);

// Help with index `i` of a label that a task reads, if it goes round a ring by
// a remainder, u((x-1) % N)(t): how the language says that. Empty for any other
// index. `indices` are the names of the task's.
std::string HelpWithRing(const ast::Ref& ref, size_t i,
                         const std::vector<std::string>& indices);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_INDEX_HELP_H_

// From tree to text, in one canonical form: Parse(Print(t)) is t again, but
// for ranges.
#ifndef DOGGED_DSL_TEXT_PRINT_H_
#define DOGGED_DSL_TEXT_PRINT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "dsl/text/ast.h"

namespace dogged::dsl {

std::string Print(const ast::Program& program);
std::string Print(const ast::Expr& expr);
std::string Print(const ast::Ref& ref);
// "int64".
absl::string_view TypeName(Type type);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_PRINT_H_

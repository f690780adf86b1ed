// The parser: text to tree by recursive descent, one function per production
// of the grammar in docs/LANGUAGE.md. After an error it goes on behind the
// statement or `end task`, so that one run reports several.
#ifndef DOGGED_DSL_TEXT_PARSER_H_
#define DOGGED_DSL_TEXT_PARSER_H_

#include "dsl/text/ast.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// The program in diagnostics.text(). Complete only if `diagnostics` has no
// errors afterwards. Nesting is bounded, so no text exhausts the stack.
ast::Program Parse(Diagnostics& diagnostics);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_PARSER_H_

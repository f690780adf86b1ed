// The middle of the parser: references to labels, and ranges of indices.
#ifndef DOGGED_DSL_TEXT_REFERENCE_PARSER_H_
#define DOGGED_DSL_TEXT_REFERENCE_PARSER_H_

#include <optional>
#include <string>
#include <vector>

#include "dsl/text/ast.h"
#include "dsl/text/expression_parser.h"

namespace dogged::dsl {

class ReferenceParser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

 protected:
  // phi(x)(t). With `allow_slices`, as in a result, also phi(:)(1:3).
  ast::Ref Reference(bool allow_slices);
  // x = 1:N, t = 1:T; at least one.
  std::vector<ast::Dimension> Dimensions();
  // 1:N or 1:N:2.
  ast::Range RangeExpression();
  // `as` and the name of the value of `ref`.
  ast::Name TakeAs(const ast::Ref& ref);
  // Fails at the range of an index that stands behind `where`, and so too late:
  // x = 1:N where x > 2  t = 1:T.
  void IndexBehindWhere(const std::optional<ast::Expr>& where);
  // The words that begin the parts of a task.
  static const std::vector<std::string>& Clauses();

 private:
  // Behind first:last, of which it is the step.
  int64_t Step(const ast::Expr& first, const ast::Expr& last);
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_REFERENCE_PARSER_H_

// The lower half of the parser: a cursor over the tokens with its one way to
// report, and expressions by precedence. ReferenceParser stands on it.
#ifndef DOGGED_DSL_TEXT_EXPRESSION_PARSER_H_
#define DOGGED_DSL_TEXT_EXPRESSION_PARSER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "dsl/text/ast.h"
#include "dsl/text/diagnostics.h"
#include "dsl/text/lexer.h"

namespace dogged::dsl {

class ExpressionParser {
 public:
  explicit ExpressionParser(Diagnostics& diagnostics);

 protected:
  // --- Tokens. After a failure nothing is accepted and nothing reported. ---
  const Token& Peek(size_t ahead = 0) const;
  const Token& Next();
  const Token& Last() const { return tokens_[at_ == 0 ? 0 : at_ - 1]; }
  size_t position() const { return at_; }
  // From the start of `begin` to the end of the last token taken.
  SourceRange Since(SourceRange begin) const;
  bool At(absl::string_view text) const { return !failed_ && Peek().Is(text); }
  bool AtName() const { return !failed_ && Peek().kind == Token::Kind::kName; }
  bool Accept(absl::string_view text);
  // `where` completes "expected ')' ...".
  void Expect(absl::string_view text, absl::string_view where,
              std::string help = "");
  // `what` completes "expected ...". Reports the token there instead.
  Diagnostic& FailExpected(absl::string_view what);
  // Two values stand side by side, such as 2 c.
  bool LacksOperator() const;
  // Reports at the next token.
  Diagnostic& Fail(std::string message, Code code = Code::kSyntax);
  Diagnostic& FailAt(SourceRange range, std::string message,
                     Code code = Code::kSyntax);
  // `what` completes "expected ...".
  ast::Name TakeName(absl::string_view what);
  // A token as a message shows it.
  static std::string Shown(const Token& token);

  bool failed() const { return failed_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  // Forgets the failure and open brackets.
  void Restart();
  // In code, a new line ends an expression unless a bracket is open.
  void SetInCode(bool in_code) { in_code_ = in_code; }

  // A label may stand in an expression: phi(3)(T), a function of its indices.
  void SetTakesLabels(bool takes_labels) { takes_labels_ = takes_labels; }

  // Where labels go instead of an expression; empty: under `using`.
  void SetLabelHelp(std::string help) { label_help_ = std::move(help); }

  // --- Expressions ---
  ast::Expr Expression();
  // Behind "(", up to and with ")".
  std::vector<ast::Expr> Arguments();
  static std::optional<ElementType> FindElement(const Token& token);

 private:
  bool CanContinue() const;
  // Takes the ")" of a bracket that was opened at `begin`.
  void Close(absl::string_view where, int32_t begin);
  void Deepen(int other);
  ast::Expr Binary(int least);
  ast::Expr Unary();
  ast::Expr Primary();
  ast::Expr Conversion(Type type);
  ast::Expr NameOrFunction();

  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  bool failed_ = false;
  bool in_code_ = false;
  bool takes_labels_ = false;
  std::string label_help_;
  int brackets_ = 0;  // open ones
  int nesting_ = 0;   // depth of the recursion
  int depth_ = 0;     // levels of the last expression tree
  Diagnostic ignored_;
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_EXPRESSION_PARSER_H_

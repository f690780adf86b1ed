#include "dsl/text/expression_parser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/text/functions.h"
#include "dsl/text/precedence.h"

namespace dogged::dsl {
namespace {

// Brackets that may follow one another.
constexpr size_t kIndicesMax = 16;

using ast::Expr;
using ast::Op;

// Brackets within brackets; bounds the recursion of the parser.
constexpr int kNestingMax = 200;
// Levels of one expression tree; bounds that of everything behind it.
constexpr int kDepthMax = 1000;

struct BinaryOperator {
  absl::string_view text;
  Op op;
  int precedence;
};
constexpr BinaryOperator kBinaryOperators[] = {
    {"or", Op::kOr, precedence::kOr},
    {"and", Op::kAnd, precedence::kAnd},
    {"<", Op::kLess, precedence::kComparison},
    {"<=", Op::kLessEqual, precedence::kComparison},
    {">", Op::kGreater, precedence::kComparison},
    {">=", Op::kGreaterEqual, precedence::kComparison},
    {"==", Op::kEqual, precedence::kComparison},
    {"!=", Op::kNotEqual, precedence::kComparison},
    {"+", Op::kAdd, precedence::kSum},
    {"-", Op::kSubtract, precedence::kSum},
    {"*", Op::kMultiply, precedence::kProduct},
    {"/", Op::kDivide, precedence::kProduct},
    {"%", Op::kModulo, precedence::kProduct},
};

const BinaryOperator* FindBinary(const Token& token) {
  if (token.kind != Token::Kind::kSign && token.kind != Token::Kind::kWord) {
    return nullptr;
  }
  for (const BinaryOperator& candidate : kBinaryOperators) {
    if (candidate.text == token.text) return &candidate;
  }
  return nullptr;
}

Expr Node(Expr::Kind kind, SourceRange range) {
  Expr out;
  out.kind = kind;
  out.range = range;
  return out;
}

}  // namespace

ExpressionParser::ExpressionParser(Diagnostics& diagnostics)
    : diagnostics_(diagnostics), tokens_(Lex(diagnostics)) {}

// --- Tokens ---------------------------------------------------------------

const Token& ExpressionParser::Peek(size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

const Token& ExpressionParser::Next() {
  const Token& token = Peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

SourceRange ExpressionParser::Since(SourceRange begin) const {
  return {begin.begin, std::max(begin.end, Last().range.end)};
}

bool ExpressionParser::Accept(absl::string_view text) {
  if (!At(text)) return false;
  Next();
  return true;
}

void ExpressionParser::Expect(absl::string_view text, absl::string_view where,
                              std::string help) {
  if (failed_ || Accept(text)) return;
  const std::string meant =
      Peek().kind == Token::Kind::kName
          ? DidYouMean(Peek().text, {std::string(text.data(), text.size())})
          : "";
  if (!meant.empty()) {
    Fail(absl::StrCat("expected '", text, "' ", where, ", found ",
                      Shown(Peek()), meant));
    return;
  }
  if (text == ")" && help.empty() && LacksOperator()) {
    help = "a product needs a *";
  }
  Diagnostic& error = FailExpected(absl::StrCat("'", text, "' ", where));
  if (!help.empty()) error.Help(std::move(help));
}

bool ExpressionParser::LacksOperator() const {
  const auto is_value = [](const Token& token) {
    return token.kind == Token::Kind::kName ||
           token.kind == Token::Kind::kInteger ||
           token.kind == Token::Kind::kReal;
  };
  return !Peek().starts_line && Last().text != "if" && Peek().text != "if" &&
         (is_value(Last()) || Last().Is(")")) &&
         (is_value(Peek()) || Peek().Is("("));
}

Diagnostic& ExpressionParser::FailExpected(absl::string_view what) {
  // A missing token is reported where the line ends, not where the next begins.
  const bool line_ends = Peek().starts_line && at_ > 0;
  const int32_t end = Last().range.end;
  return FailAt(
      line_ends ? SourceRange{end, end + 1} : Peek().range,
      absl::StrCat("expected ", what, ", found ",
                   line_ends ? "the end of the line" : Shown(Peek())));
}

Diagnostic& ExpressionParser::Fail(std::string message, Code code) {
  return FailAt(Peek().range, std::move(message), code);
}

Diagnostic& ExpressionParser::FailAt(SourceRange range, std::string message,
                                     Code code) {
  if (failed_) return ignored_;
  failed_ = true;
  // A sign before it that means nothing has been told, and may be why.
  const int line = diagnostics_.LineAndColumn(range.begin).first;
  for (const Diagnostic& told : diagnostics_.all()) {
    if (told.code == Code::kBadToken && told.range.begin <= range.begin &&
        diagnostics_.LineAndColumn(told.range.begin).first == line) {
      return ignored_;
    }
  }
  // The end of the text has no character of its own to point at.
  if (Peek().kind == Token::Kind::kEnd) range = Last().range;
  range.end = std::max(range.end, range.begin + 1);
  return diagnostics_.Error(code, range, std::move(message));
}

ast::Name ExpressionParser::TakeName(absl::string_view what) {
  if (AtName()) {
    const Token& token = Next();
    return {token.text, token.range};
  }
  const bool is_word = Peek().kind == Token::Kind::kWord;
  if (!failed_ && is_word && !Peek().starts_line) {
    Fail(absl::StrCat("expected ", what, ", found '", Peek().text,
                      "', which is a word of the language"));
  } else {
    FailExpected(what);
  }
  return {};
}

std::string ExpressionParser::Shown(const Token& token) {
  if (token.kind == Token::Kind::kEnd) return "the end of the text";
  if (token.kind == Token::Kind::kString) return "a string";
  return absl::StrCat("'", token.text.substr(0, 40), "'");
}

void ExpressionParser::Restart() {
  failed_ = false;
  in_code_ = false;
  brackets_ = 0;
  nesting_ = 0;
}

std::optional<ElementType> ExpressionParser::FindElement(const Token& token) {
  if (token.Is("double")) return ElementType::kDouble;
  if (token.Is("float")) return ElementType::kFloat;
  if (token.Is("int64")) return ElementType::kInt64;
  return std::nullopt;
}

// --- Expressions. Each leaves the levels of its tree in depth_. ------------

Expr ExpressionParser::Expression() {
  if (failed_) return {};
  if (++nesting_ > kNestingMax) {
    Fail(absl::StrCat("brackets are nested more than ", kNestingMax, " deep"),
         Code::kTooDeep);
    return {};
  }
  Expr out = Binary(1);
  if (CanContinue() && Accept("?")) {
    const int condition_depth = depth_;
    ++brackets_;  // before the colon line ends don't count
    Expr yes = Expression();
    const int yes_depth = depth_;
    Expect(":", "between the values of a conditional");
    --brackets_;
    Expr no = Expression();
    Deepen(std::max(condition_depth, yes_depth));
    Expr node = Node(Expr::Kind::kConditional, Join(out.range, no.range));
    node.args.push_back(std::move(out));
    node.args.push_back(std::move(yes));
    node.args.push_back(std::move(no));
    out = std::move(node);
  }
  --nesting_;
  return out;
}

bool ExpressionParser::CanContinue() const {
  return !failed_ && !(in_code_ && brackets_ == 0 && Peek().starts_line);
}

// depth_ becomes one more than the larger of itself and `other`.
void ExpressionParser::Deepen(int other) {
  depth_ = std::max(depth_, other) + 1;
  if (depth_ > kDepthMax) {
    Fail(absl::StrCat("the expression is more than ", kDepthMax,
                      " operations deep"),
         Code::kTooDeep)
        .Help("split it with values of its own:  s = a + b");
  }
}

Expr ExpressionParser::Binary(int least) {
  Expr left = Unary();
  while (CanContinue()) {
    const BinaryOperator* found = FindBinary(Peek());
    if (found == nullptr || found->precedence < least) break;
    const int left_depth = depth_;
    Next();
    Expr right = Binary(found->precedence + 1);
    Deepen(left_depth);
    Expr node = Node(Expr::Kind::kBinary, Join(left.range, right.range));
    node.op = found->op;
    node.args.push_back(std::move(left));
    node.args.push_back(std::move(right));
    left = std::move(node);
    const BinaryOperator* next = CanContinue() ? FindBinary(Peek()) : nullptr;
    if (found->precedence == precedence::kComparison && next != nullptr &&
        next->precedence == precedence::kComparison) {
      Fail("comparisons can't be chained").Help("write  a < b and b < c");
    }
  }
  return left;
}

Expr ExpressionParser::Unary() {
  const bool negates = At("-");
  if (!negates && !At("not")) return Primary();
  if (++nesting_ > kNestingMax) {
    Fail(absl::StrCat("more than ", kNestingMax, " signs in a row"),
         Code::kTooDeep);
    return {};
  }
  const SourceRange begin = Next().range;
  Expr operand = negates ? Unary() : Binary(precedence::kComparison);
  --nesting_;
  Deepen(0);
  Expr out = Node(Expr::Kind::kUnary, Join(begin, operand.range));
  out.op = negates ? Op::kNegate : Op::kNot;
  out.args.push_back(std::move(operand));
  return out;
}

Expr ExpressionParser::Primary() {
  depth_ = 1;
  if (failed_) return {};
  const Token& token = Peek();
  if (token.kind == Token::Kind::kInteger) {
    Expr out = Node(Expr::Kind::kInteger, token.range);
    out.integer = Next().integer;
    return out;
  }
  if (token.kind == Token::Kind::kReal) {
    Expr out = Node(Expr::Kind::kReal, token.range);
    out.real = Next().real;
    return out;
  }
  if (const auto element = FindElement(token)) {
    return Conversion(TypeOf(*element));
  }
  if (token.kind == Token::Kind::kName) return NameOrFunction();
  if (Accept("(")) {
    ++brackets_;
    Expr out = Expression();
    --brackets_;
    Close("to close the bracket", token.range.begin);
    return out;
  }
  const bool is_comment = token.Is("/") && Last().Is("/");
  const bool is_power = token.Is("*") && Last().Is("*");
  FailExpected("a value").Help(
      is_comment ? "a division has one /, a comment begins with #"
      : is_power ? "write  pow(a, b)  or  a*a"
                 : "");
  return {};
}

// double(x): at the type.
Expr ExpressionParser::Conversion(Type type) {
  Expr out = Node(Expr::Kind::kConvert, Next().range);
  out.type = type;
  Expect("(", "behind the type", "as in  double(a)");
  out.args = Arguments();
  out.range = Since(out.range);
  if (!failed_ && out.args.size() != 1) Fail("a conversion takes one value");
  return out;
}

Expr ExpressionParser::NameOrFunction() {
  Expr out = Node(Expr::Kind::kName, Peek().range);
  out.text = Next().text;
  if (!CanContinue() || !Accept("(")) return out;
  out.kind = Expr::Kind::kFunction;
  out.args = Arguments();
  const bool may_be_label = takes_labels_ && FindFunction(out.text) == nullptr;
  while (may_be_label && out.args.size() < kIndicesMax && Accept("(")) {
    for (Expr& index : Arguments()) out.args.push_back(std::move(index));
  }
  out.range = Since(out.range);
  if (CanContinue() && At("(")) {
    Fail("an array can't stand in an expression")
        .Help(label_help_.empty()
                  ? absl::StrCat("under using, write  ", out.text,
                                 "(...)(...) as name,  and use the name here")
                  : label_help_);
  }
  return out;
}

void ExpressionParser::Close(absl::string_view where, int32_t begin) {
  const auto line_of = [this](int32_t offset) {
    return diagnostics_.LineAndColumn(offset).first;
  };
  const int opened = line_of(begin);
  Expect(")", where,
         line_of(Last().range.begin) == opened
             ? ""
             : absl::StrCat("it was opened on line ", opened));
}

std::vector<Expr> ExpressionParser::Arguments() {
  std::vector<Expr> out;
  int depth = 0;
  const int32_t begin = Last().range.begin;
  ++brackets_;
  if (!At(")")) {
    do {
      out.push_back(Expression());
      depth = std::max(depth, depth_);
    } while (Accept(","));
  }
  Close("behind the arguments", begin);
  --brackets_;
  depth_ = depth;
  Deepen(0);
  return out;
}

}  // namespace dogged::dsl

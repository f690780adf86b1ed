#include "dsl/text/reference_parser.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dsl/text/print.h"

namespace dogged::dsl {

ast::Ref ReferenceParser::Reference(bool allow_slices) {
  ast::Ref out;
  out.array = TakeName("the name of an array");
  while (Accept("(")) {
    if (!allow_slices && At(":")) {
      Fail("':' for all of an index stands in results alone")
          .Help("name the index, as in  u(x)(t)");
    }
    if (allow_slices && Accept(":")) {
      out.index.emplace_back();
      out.is_slice.push_back(true);
    } else {
      out.index.push_back(Expression());
      out.is_slice.push_back(false);
      if (allow_slices && Accept(":")) {
        out.last.resize(out.index.size());
        out.last.back() = Expression();
        out.step.resize(out.index.size(), 1);
        if (Accept(":")) {
          out.step.back() = Step(out.index.back(), *out.last.back());
        }
      }
    }
    if (At(",")) {
      Fail("an index stands in brackets of its own")
          .Help(absl::StrCat("write  ", Print(out), "(...)"));
    }
    if (At(":")) {
      Fail("a range can't stand here")
          .Help("name the index, and say  for x = ...");
    }
    Expect(")", "behind an index");
  }
  out.range = Since(out.array.range);
  if (At("[")) {
    Fail("an index stands in round brackets")
        .Help(absl::StrCat("write  ", Print(out), "(...)"));
  }
  return out;
}

std::vector<ast::Dimension> ReferenceParser::Dimensions() {
  std::vector<ast::Dimension> out;
  do {
    ast::Dimension dimension;
    dimension.name = TakeName("the name of an index");
    if (!failed() && !At("=")) {
      static const std::vector<std::string> clauses = {"using", "where", "code",
                                                       "call"};
      Fail(absl::StrCat("expected '=' behind the name of an index, found ",
                        Shown(Peek()),
                        DidYouMean(dimension.name.text, clauses)))
          .Help(dimension.name.text == "if" ? "a condition begins with  where"
                : Peek().Is("(") || absl::StartsWith(dimension.name.text, "us")
                    ? "labels that a task reads stand under  using"
                    : "a range is  x = 0:N-1,  both ends belong to it");
    }
    Expect("=", "behind the name of an index");
    dimension.range = RangeExpression();
    out.push_back(std::move(dimension));
    Accept(",");
  } while (AtName());
  return out;
}

ast::Range ReferenceParser::RangeExpression() {
  ast::Range out;
  const SourceRange begin = Peek().range;
  out.lower = Expression();
  Expect(":", "between the ends of a range", "as in  x = 0:N-1");
  out.upper = Expression();
  if (Accept(":")) out.step = Step(out.lower, out.upper);
  out.range = Since(begin);
  return out;
}

int64_t ReferenceParser::Step(const ast::Expr& first, const ast::Expr& last) {
  if (!failed() && Peek().kind == Token::Kind::kInteger && Peek().integer > 0) {
    return Next().integer;
  }
  if (Peek().Is("-")) {
    Fail("a range has no direction")
        .Help(absl::StrCat(
            "write  ", Print(last), ":", Print(first),
            ":  each task runs as soon as what it reads is there"));
  } else if (FindElement(Peek())) {
    Fail("a range has no type")
        .Help(absl::StrCat(
            "its array has, in a line of its own, as in  array u(x = 0:N) : ",
            Peek().text));
  } else {
    Fail("the step of a range is a number, 1 or more")
        .Help(
            "it comes last, as in  0:N-1:2;  a parameter stands in a "
            "condition: where x % K == 0");
  }
  return 1;
}

const std::vector<std::string>& ReferenceParser::Clauses() {
  static const std::vector<std::string> clauses = {
      "creates", "for", "where", "using", "code", "call", "cost", "priority"};
  return clauses;
}

ast::Name ReferenceParser::TakeAs(const ast::Ref& ref) {
  if (!failed() && !At("as")) {
    // A word of the language with a letter wrong looks like an array.
    const std::string meant =
        ref.index.empty() ? DidYouMean(ref.array.text, Clauses()) : "";
    if (!meant.empty()) {
      FailAt(ref.range, absl::StrCat("expected a label, found '",
                                     ref.array.text, "'", meant));
    }
    Fail(absl::StrCat("expected 'as' and a name, found ", Shown(Peek())))
        .Help("as in  phi(x)(t-1) as c");
  }
  Accept("as");
  return TakeName("the name of a value");
}

void ReferenceParser::IndexBehindWhere(const std::optional<ast::Expr>& where) {
  if (failed() || !where || !AtName() || !Peek(1).Is("=")) return;
  for (size_t k = 2; !Peek(k).starts_line; ++k) {
    if (Peek(k).kind == Token::Kind::kEnd) return;
    if (!Peek(k).Is(":")) continue;
    Fail(absl::StrCat("the index ", Peek().text, " stands behind 'where'"))
        .Help(absl::StrCat("'where' comes last:  for ... ", Peek().text,
                           " = ...  where ", Print(*where)));
    return;
  }
}

}  // namespace dogged::dsl

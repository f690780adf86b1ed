#include "dsl/check/type_check.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dsl/text/comparison.h"
#include "dsl/text/functions.h"
#include "dsl/text/other_languages.h"
#include "dsl/text/print.h"

namespace dogged::dsl {
namespace {

using ast::Expr;
using ast::Op;

bool IsNumber(Type type) {
  return type == Type::kInt64 || type == Type::kFloat || type == Type::kDouble;
}

// Gives a number the type `to`, by a node or by changing a literal.
void Convert(Type to, Expr& e, Diagnostics& diagnostics) {
  if (e.type == to) return;
  const Expr* quotient = FindQuotient(e);
  // A division of literals alone has been reported.
  if (quotient != nullptr && !quotient->is_constant) {
    diagnostics
        .Warning(Code::kArithmetic, quotient->range,
                 "a division of integers rounds down")
        .Help(
            "with a factor of 1.0 before it the quotient is real; int64(...) "
            "around it says that it is meant");
  }
  if (e.kind == Expr::Kind::kInteger && to != Type::kInt64 &&
      std::llabs(e.integer) < (1LL << 53)) {
    e.kind = Expr::Kind::kReal;
    e.real = static_cast<double>(e.integer);
    e.type = to;
    return;
  }
  if (e.kind == Expr::Kind::kReal && to == Type::kFloat) {
    e.type = to;
    return;
  }
  Expr node;
  node.kind = Expr::Kind::kConvert;
  node.range = e.range;
  node.type = to;
  node.is_constant = e.is_constant;
  node.args.push_back(std::move(e));
  e = std::move(node);
}

// The type that two numbers meet in: 0.25 is a float among floats.
Type Common(const Expr& a, const Expr& b) {
  if (a.type == b.type) return a.type;
  if (a.type == Type::kInt64) return b.type;
  if (b.type == Type::kInt64) return a.type;
  const Expr& wide = a.type == Type::kDouble ? a : b;
  return wide.is_constant ? Type::kFloat : Type::kDouble;
}

class TypeChecker {
 public:
  TypeChecker(Scope& scope, Diagnostics& diagnostics)
      : scope_(scope), diagnostics_(diagnostics) {}

  bool Run(Expr& e) {
    for (Expr& arg : e.args) {
      if (!Run(arg)) return false;
    }
    switch (e.kind) {
      case Expr::Kind::kInteger:
        e.type = Type::kInt64;
        e.is_constant = true;
        return true;
      case Expr::Kind::kReal:
        if (e.type == Type::kNone) e.type = Type::kDouble;
        e.is_constant = true;
        return true;
      case Expr::Kind::kName:
        return Name(e);
      case Expr::Kind::kUnary:
        return Unary(e);
      case Expr::Kind::kBinary:
        return Binary(e);
      case Expr::Kind::kConditional:
        return Conditional(e);
      case Expr::Kind::kFunction:
        return Call(e);
      case Expr::Kind::kConvert:
        return NeedsNumber(e.args[0], "a conversion");
    }
    return false;
  }

 private:
  bool Name(Expr& e) {
    Scope::Entry* entry = scope_.Find(e.text);
    if (entry == nullptr && IsArray(e.text)) {
      SayArray(e);
      return false;
    }
    if (entry == nullptr) {
      SayUnknownName(e, scope_.Names(), scope_.unknown_help, diagnostics_);
      return false;
    }
    entry->is_used = true;
    if (entry->is_block) {
      diagnostics_
          .Error(Code::kType, e.range,
                 absl::StrCat(e.text,
                              " is a block of values, which code "
                              "can't compute with"))
          .Help("hand it to a kernel:  call name(...)  instead of  code");
      return false;
    }
    if (entry->kind == ast::NameKind::kCreate) {
      diagnostics_
          .Error(Code::kType, e.range,
                 absl::StrCat(e.text,
                              " is what the task creates, and can't "
                              "be read"))
          .Help("compute a value of its own first:  s = ...");
      return false;
    }
    e.name_kind = entry->kind;
    e.index = entry->index;
    e.type = entry->type;
    e.is_constant = entry->is_constant;
    return true;
  }

  bool NeedsNumber(const Expr& e, absl::string_view what) {
    if (IsNumber(e.type)) return true;
    diagnostics_
        .Error(Code::kType, e.range,
               absl::StrCat(what, " takes numbers, and this is a condition"))
        .Help("make it one, as in  (a > b ? 1 : 0)");
    return false;
  }
  bool NeedsCondition(const Expr& e, absl::string_view what) {
    if (e.type == Type::kBool) return true;
    diagnostics_
        .Error(Code::kType, e.range,
               absl::StrCat(what, " takes a condition, and this is a number"))
        .Help("compare it, as in  a != 0");
    return false;
  }

  bool Unary(Expr& e) {
    e.type = e.args[0].type;
    e.is_constant = e.args[0].is_constant;
    if (e.op == Op::kNot) return NeedsCondition(e.args[0], "'not'");
    return NeedsNumber(e.args[0], "'-'");
  }

  bool Binary(Expr& e) {
    Expr& a = e.args[0];
    Expr& b = e.args[1];
    if (e.op == Op::kAnd || e.op == Op::kOr) {
      const absl::string_view what = e.op == Op::kAnd ? "'and'" : "'or'";
      e.type = Type::kBool;
      return NeedsCondition(a, what) && NeedsCondition(b, what);
    }
    const bool compares = ComparisonOf(e.op).has_value();
    const absl::string_view what = compares ? "a comparison" : "an operation";
    if (!NeedsNumber(a, what) || !NeedsNumber(b, what)) return false;
    if (e.op == Op::kModulo &&
        (a.type != Type::kInt64 || b.type != Type::kInt64)) {
      diagnostics_.Error(Code::kType, e.range, "'%' takes integers")
          .Help("for real numbers there is  fmod(a, b)");
      return false;
    }
    if (b.kind == Expr::Kind::kInteger && b.integer == 0 &&
        a.type == Type::kInt64 &&
        (e.op == Op::kDivide || e.op == Op::kModulo)) {
      diagnostics_.Error(Code::kArithmetic, e.range, "division by zero");
      return false;
    }
    const Type common = Common(a, b);
    if (e.op == Op::kDivide && common == Type::kInt64 && a.is_constant &&
        b.is_constant) {
      diagnostics_
          .Warning(Code::kArithmetic, e.range,
                   "a division of integers rounds down")
          .Help(absl::StrCat("with a point it is real:  ", RealQuotient(e)));
    }
    Convert(common, a, diagnostics_);
    Convert(common, b, diagnostics_);
    e.type = compares ? Type::kBool : common;
    e.is_constant = a.is_constant && b.is_constant;
    return true;
  }

  bool Conditional(Expr& e) {
    if (!NeedsCondition(e.args[0], "'?'")) return false;
    Expr& yes = e.args[1];
    Expr& no = e.args[2];
    if (yes.type == Type::kBool && no.type == Type::kBool) {
      e.type = Type::kBool;
      return true;
    }
    if (!NeedsNumber(yes, "'?'") || !NeedsNumber(no, "'?'")) return false;
    e.type = Common(yes, no);
    e.is_constant = yes.is_constant && no.is_constant;
    Convert(e.type, yes, diagnostics_);
    Convert(e.type, no, diagnostics_);
    return true;
  }

  bool IsArray(absl::string_view name) const {
    return std::count(scope_.arrays.begin(), scope_.arrays.end(), name) > 0;
  }
  void SayArray(const Expr& e) {
    if (scope_.is_code) {
      diagnostics_
          .Error(
              Code::kUnknownName, e.range,
              absl::StrCat(e.text, " is an array; code reads labels by name"))
          .Help(absl::StrCat("name one under  using:  ", e.text, "(...) as a"));
      return;
    }
    if (absl::c_linear_search(scope_.lacking, e.text)) return;
    if (std::count(scope_.inputs.begin(), scope_.inputs.end(), e.text) > 0) {
      diagnostics_
          .Error(Code::kUnknownName, e.range,
                 absl::StrCat(e.text,
                              " is an input, whose elements may stand in the "
                              "indices of what a task reads, and not here"))
          .Help(
              "ranges, conditions and what is created are made of indices and "
              "parameters: let rows be as long as the longest, and fill them "
              "up with zeros");
      return;
    }
    diagnostics_
        .Error(Code::kUnknownName, e.range,
               absl::StrCat(e.text,
                            " is an array, whose values are not known "
                            "before the program runs"))
        .Help(scope_.elements_help.empty()
                  ? "this is made of indices and parameters; code chooses by "
                    "values, as in  (a > 0 ? left : right)"
                  : scope_.elements_help);
  }

  // An element of an input, as a function of its indices.
  bool IsElement(Expr& e, const Scope::Element& of) {
    if (of.element != ElementType::kInt64) {
      diagnostics_
          .Error(Code::kType, e.range,
                 absl::StrCat("indices are integers, and ", e.text, " holds ",
                              ElementName(of.element)))
          .Help(absl::StrCat("declare it, as in  array ", e.text,
                             "(i = 0:N-1) : int64"));
      return false;
    }
    if (static_cast<int32_t>(e.args.size()) != of.rank) {
      diagnostics_.Error(Code::kIndexCount, e.range,
                         absl::StrCat(e.text, " has ", of.rank,
                                      of.rank == 1 ? " index" : " indices",
                                      ", and here ", e.args.size()));
      return false;
    }
    for (Expr& arg : e.args) {
      if (!ConvertTo(Type::kInt64, "an index", arg, diagnostics_)) return false;
    }
    e.name_kind = ast::NameKind::kArray;
    e.index = of.position;
    e.type = Type::kInt64;
    return true;
  }

  bool Call(Expr& e) {
    const Function* function = FindFunction(e.text);
    if (function == nullptr && scope_.Find(e.text) == nullptr) {
      for (const Scope::Element& of : scope_.elements) {
        if (of.array == e.text) return IsElement(e, of);
      }
    }
    if (function == nullptr && scope_.Find(e.text) == nullptr &&
        IsArray(e.text)) {
      SayArray(e);
      return false;
    }
    if (function == nullptr) {
      Diagnostic& error =
          diagnostics_.Error(Code::kUnknownName, e.range,
                             absl::StrCat("there is no function ", e.text,
                                          DidYouMean(e.text, FunctionNames())));
      error.Help(scope_.Find(e.text) != nullptr
                     ? absl::StrCat("a product needs a *:  ", e.text, "*(...)")
                     : HelpWithFunction(e.text));
      return false;
    }
    if (static_cast<int>(e.args.size()) != function->argument_count) {
      const bool is_extreme = e.text == "max" || e.text == "min";
      diagnostics_
          .Error(
              Code::kType, e.range,
              absl::StrCat(e.text, " takes ", function->argument_count,
                           function->argument_count == 1 ? " value" : " values",
                           ", not ", e.args.size()))
          .Help(is_extreme && e.args.size() > 2
                    ? absl::StrCat("of three it is  ", e.text, "(a, ", e.text,
                                   "(b, c))")
                    : "");
      return false;
    }
    for (const Expr& arg : e.args) {
      if (!NeedsNumber(arg, e.text)) return false;
    }
    e.is_constant =
        std::all_of(e.args.begin(), e.args.end(),
                    [](const Expr& arg) { return arg.is_constant; });
    e.type = e.args[0].type;
    if (e.args.size() == 2) e.type = Common(e.args[0], e.args[1]);
    if (!function->keeps_integers && e.type == Type::kInt64) {
      e.type = Type::kDouble;
    }
    for (Expr& arg : e.args) Convert(e.type, arg, diagnostics_);
    return true;
  }

  Scope& scope_;
  Diagnostics& diagnostics_;
};

// The number that a whole real literal stands for, with or without a sign.
std::optional<int64_t> WholeNumber(const Expr& e) {
  if (e.kind == Expr::Kind::kUnary && e.op == Op::kNegate) {
    const std::optional<int64_t> number = WholeNumber(e.args[0]);
    return number ? std::optional<int64_t>(-*number) : std::nullopt;
  }
  const bool is_whole = e.kind == Expr::Kind::kReal &&
                        std::abs(e.real) < 1e15 && e.real == std::floor(e.real);
  if (!is_whole) return std::nullopt;
  return static_cast<int64_t>(e.real);
}

}  // namespace

const Expr* FindQuotient(const Expr& e) {
  if (e.type != Type::kInt64) return nullptr;
  if (e.kind != Expr::Kind::kBinary && e.kind != Expr::Kind::kUnary) {
    return nullptr;
  }
  if (e.op == Op::kDivide) return &e;
  if (e.op != Op::kMultiply && e.op != Op::kNegate) return nullptr;
  for (const Expr& arg : e.args) {
    if (const Expr* found = FindQuotient(arg)) return found;
  }
  return nullptr;
}

std::string RealQuotient(const Expr& quotient) {
  Expr out = quotient;
  for (Expr& arg : out.args) {
    Expr& number = arg.kind == Expr::Kind::kUnary ? arg.args[0] : arg;
    if (number.kind != Expr::Kind::kInteger) continue;
    number.kind = Expr::Kind::kReal;
    number.real = static_cast<double>(number.integer);
    return Print(out);
  }
  return absl::StrCat("1.0*", Print(out));
}

Scope::Entry* Scope::Find(absl::string_view name) {
  for (Entry& entry : entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::vector<std::string> Scope::Names() const {
  std::vector<std::string> out;
  for (const Entry& entry : entries) out.push_back(entry.name);
  return out;
}

void SayUnknownName(const Expr& name, const std::vector<std::string>& known,
                    std::string help, Diagnostics& diagnostics) {
  const std::string message =
      absl::StrCat("nothing here is called ", name.text,
                   name.text.size() > 1 ? DidYouMean(name.text, known) : "");
  // An unknown name that is used everywhere is reported once.
  for (const Diagnostic& told : diagnostics.all()) {
    if (told.message == message) return;
  }
  diagnostics.Error(Code::kUnknownName, name.range, message)
      .Help(name.text == "pi"         ? "give it:  param pi : double = "
                                        "3.141592653589793"
            : name.text == "periodic" ? "name the index:  periodic(x)"
                                      : std::move(help));
}

bool CheckTypes(Expr& expr, Scope& scope, Diagnostics& diagnostics) {
  return TypeChecker(scope, diagnostics).Run(expr);
}

bool ConvertTo(Type to, absl::string_view what, Expr& expr,
               Diagnostics& diagnostics) {
  const Type from = expr.type;
  const bool narrows = to == Type::kInt64 && from != Type::kInt64;
  if ((to == Type::kBool) != (from == Type::kBool) || narrows) {
    Diagnostic& error = diagnostics.Error(
        Code::kType, expr.range,
        absl::StrCat(what, " must be ",
                     to == Type::kBool    ? "a condition"
                     : to == Type::kInt64 ? "an integer"
                                          : "a number",
                     ", and this is ",
                     from == Type::kBool ? "a condition" : "a number of type ",
                     from == Type::kBool ? "" : TypeName(from)));
    if (narrows && from != Type::kBool) {
      absl::string_view name = what;
      const bool is_affine = what == "an index" || what == "the end of a range";
      const bool is_parameter = absl::ConsumePrefix(&name, "parameter ");
      const std::optional<int64_t> whole = WholeNumber(expr);
      error.Help(
          whole ? absl::StrCat(
                      "without a point it is an integer:  ",
                      is_parameter ? absl::StrCat("param ", name, " = ") : "",
                      *whole)
          : is_parameter
              ? absl::StrCat("a real one is  param ", name, " : double = ...")
          : is_affine
              ? "it is made of integers; a parameter without a type is one:  "
                "param N = 100"
              : "int64(...) cuts off what stands behind the point");
    }
    return false;
  }
  if (to != Type::kBool) Convert(to, expr, diagnostics);
  return true;
}

}  // namespace dogged::dsl

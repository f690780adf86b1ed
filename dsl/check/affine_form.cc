#include "dsl/check/affine_form.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "dsl/check/evaluate.h"
#include "dsl/check/index_help.h"
#include "dsl/check/repeat.h"
#include "dsl/text/comparison.h"
#include "dsl/text/print.h"

namespace dogged::dsl {
namespace {

using ast::Expr;
using ast::NameKind;
using ast::Op;

// Coefficients, constants and the numbers of parameters stay below this, so
// that a form evaluates within int64 whatever the index.
constexpr int64_t kCoefficientMax = int64_t{1} << 40;
// Bound of a form's constant once numbers stand for the parameters.
constexpr int64_t kConstantMax = int64_t{1} << 42;
constexpr int64_t kFactorMax = int64_t{1} << 20;
// Behind the help with an index of what a task reads.
constexpr char kTablesHelp[] =
    "; an index of what is read may be taken by its values, without tiles:  "
    "int64(";
// Alternatives of one condition.
constexpr size_t kAlternativesMax = 64;

__extension__ using Wide = __int128;

bool IsSmall(int64_t value) {
  return value <= kCoefficientMax && value >= -kCoefficientMax;
}

bool IsConstant(const LinearForm& form) {
  for (const int64_t c : form.dims) {
    if (c != 0) return false;
  }
  for (const int64_t c : form.params) {
    if (c != 0) return false;
  }
  return true;
}

CheckedConstraint AtLeastZero(LinearForm form) {
  return {.form = std::move(form),
          .kind = Constraint::Kind::kAtLeastZero,
          .modulus = 1};
}

LinearForm Plus(LinearForm form, int64_t constant) {
  form.constant += constant;
  return form;
}

}  // namespace

std::optional<LinearForm> Combine(const LinearForm& a, int64_t factor_a,
                                  const LinearForm& b, int64_t factor_b) {
  const auto entry = [&](int64_t from_a, int64_t from_b) {
    const Wide sum = static_cast<Wide>(from_a) * factor_a +
                     static_cast<Wide>(from_b) * factor_b;
    return sum > kCoefficientMax || sum < -kCoefficientMax
               ? std::optional<int64_t>()
               : static_cast<int64_t>(sum);
  };
  LinearForm out = a;
  for (size_t d = 0; d < out.dims.size(); ++d) {
    const auto sum = entry(a.dims[d], b.dims[d]);
    if (!sum) return std::nullopt;
    out.dims[d] = *sum;
  }
  for (size_t p = 0; p < out.params.size(); ++p) {
    const auto sum = entry(a.params[p], b.params[p]);
    if (!sum) return std::nullopt;
    out.params[p] = *sum;
  }
  const auto sum = entry(a.constant, b.constant);
  if (!sum) return std::nullopt;
  out.constant = *sum;
  return out;
}

LinearForm AffineForms::Constant(int64_t value) const {
  return {.dims = std::vector<int64_t>(dim_count_),
          .params = std::vector<int64_t>(program_.parameters.size()),
          .constant = value};
}

LinearForm AffineForms::Dimension(int d) const {
  LinearForm out = Constant(0);
  out.dims[d] = 1;
  return out;
}

std::nullopt_t AffineForms::NotAffine(const Expr& expr) {
  std::string text = Print(expr);
  // As the program calls it: a loop's parameter is the last one.
  if (!program_.parameters.empty()) {
    absl::StrReplaceAll({{kRoundIndex, program_.parameters.back().name}},
                        &text);
  }
  const bool may_be_table =
      takes_tables_ && expr.kind == Expr::Kind::kBinary &&
      (expr.op == Op::kMultiply || expr.op == Op::kModulo);
  diagnostics_
      .Error(Code::kNotAffine, expr.range, absl::StrCat(text, " is not affine"))
      .Help(absl::StrCat(
          help_.empty() ? HelpWithIndex(expr) : help_,
          may_be_table ? absl::StrCat(kTablesHelp, text, ")") : ""));
  return std::nullopt;
}

bool AffineForms::UsesDimensions(const Expr& expr) const {
  if (expr.kind == Expr::Kind::kName) {
    return expr.name_kind != NameKind::kParameter;
  }
  for (const Expr& arg : expr.args) {
    if (UsesDimensions(arg)) return true;
  }
  return false;
}

void AffineForms::Fix(const Expr& expr) {
  if (expr.kind == Expr::Kind::kName &&
      expr.name_kind == NameKind::kParameter) {
    program_.parameters[expr.index].is_fixed = true;
  }
  for (const Expr& arg : expr.args) Fix(arg);
}

// The value of an expression without dimensions.
std::optional<int64_t> AffineForms::Number(const Expr& expr) {
  const auto value = EvaluateInteger(expr, {}, program_);
  if (!value) {
    diagnostics_.Error(Code::kArithmetic, expr.range,
                       absl::StrCat(Print(expr),
                                    " divides by zero or leaves the range of "
                                    "int64"));
    return std::nullopt;
  }
  if (!IsSmall(*value)) {
    diagnostics_.Error(
        Code::kTooLarge, expr.range,
        absl::StrCat(Print(expr), " is ", *value, "; indices stay below 2^40"));
    return std::nullopt;
  }
  Fix(expr);
  return value;
}

std::optional<LinearForm> AffineForms::ByNumber(const Expr& expr) {
  if (UsesDimensions(expr)) return NotAffine(expr);
  const auto value = Number(expr);
  if (!value) return std::nullopt;
  return Constant(*value);
}

std::optional<LinearForm> AffineForms::Product(const Expr& expr) {
  auto a = Linear(expr.args[0]);
  if (!a) return std::nullopt;
  auto b = Linear(expr.args[1]);
  if (!b) return std::nullopt;
  const Expr* factor = &expr.args[1];
  if (IsConstant(*a)) {
    std::swap(a, b);
    factor = &expr.args[0];
  }
  if (!IsConstant(*b)) {
    if (UsesDimensions(*factor)) {
      factor = &expr.args[0];
      std::swap(a, b);
    }
    if (UsesDimensions(*factor)) return NotAffine(expr);
    const auto value = Number(*factor);
    if (!value) return std::nullopt;
    b = Constant(*value);
  }
  auto out = Combine(*a, b->constant, *b, 0);
  if (!out) {
    diagnostics_.Error(Code::kTooLarge, expr.range,
                       "an index beyond 2^40 is too large");
  }
  return out;
}

std::optional<LinearForm> AffineForms::Linear(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::kInteger:
      if (!IsSmall(expr.integer)) return ByNumber(expr);
      return Constant(expr.integer);
    case Expr::Kind::kName: {
      if (expr.name_kind == NameKind::kDimension) return Dimension(expr.index);
      if (expr.name_kind != NameKind::kParameter) return NotAffine(expr);
      LinearForm out = Constant(0);
      out.params[expr.index] = 1;
      return out;
    }
    case Expr::Kind::kUnary: {
      const auto a = Linear(expr.args[0]);
      if (!a) return std::nullopt;
      return Combine(*a, -1, *a, 0);
    }
    case Expr::Kind::kBinary: {
      if (expr.op == Op::kMultiply) return Product(expr);
      if (expr.op != Op::kAdd && expr.op != Op::kSubtract) {
        return ByNumber(expr);
      }
      const auto a = Linear(expr.args[0]);
      if (!a) return std::nullopt;
      const auto b = Linear(expr.args[1]);
      if (!b) return std::nullopt;
      auto out = Combine(*a, 1, *b, expr.op == Op::kAdd ? 1 : -1);
      if (!out) {
        diagnostics_.Error(Code::kTooLarge, expr.range,
                           "an index beyond 2^40 is too large");
      }
      return out;
    }
    case Expr::Kind::kReal:
    case Expr::Kind::kConditional:
    case Expr::Kind::kFunction:
    case Expr::Kind::kConvert:
      return ByNumber(expr);
  }
  return std::nullopt;
}

bool AffineForms::IsOfTables(const Expr& expr) const {
  const bool is_element =
      expr.kind == Expr::Kind::kFunction && expr.name_kind == NameKind::kArray;
  const bool is_meant = expr.kind == Expr::Kind::kConvert &&
                        expr.type == Type::kInt64 && UsesDimensions(expr);
  return is_element || is_meant ||
         std::any_of(expr.args.begin(), expr.args.end(),
                     [this](const Expr& arg) { return IsOfTables(arg); });
}

std::optional<AffineForms::Split> AffineForms::IndexOfTables(const Expr& expr) {
  if (!IsOfTables(expr)) {
    auto form = Index(expr);
    if (!form) return std::nullopt;
    return Split{.form = *std::move(form), .rest = std::nullopt};
  }
  const bool adds = expr.kind == Expr::Kind::kBinary &&
                    (expr.op == Op::kAdd || expr.op == Op::kSubtract);
  if (!adds) return Split{.form = Constant(0), .rest = expr};
  auto a = IndexOfTables(expr.args[0]);
  if (!a) return std::nullopt;
  auto b = IndexOfTables(expr.args[1]);
  if (!b) return std::nullopt;
  const bool is_sum = expr.op == Op::kAdd;
  auto form = Combine(a->form, 1, b->form, is_sum ? 1 : -1);
  if (!form) return std::nullopt;
  Split out{.form = *std::move(form), .rest = std::nullopt};
  if (!a->rest || !b->rest) {
    out.rest = a->rest ? a->rest : b->rest;
    if (a->rest || is_sum) return out;
    Expr negated = expr;
    negated.kind = Expr::Kind::kUnary;
    negated.op = Op::kNegate;
    negated.args = {*std::move(out.rest)};
    out.rest = std::move(negated);
    return out;
  }
  out.rest = expr;
  out.rest->args = {*std::move(a->rest), *std::move(b->rest)};
  return out;
}

std::optional<LinearForm> AffineForms::Fitting(LinearForm form,
                                               const Expr& expr) {
  Wide size = form.constant < 0 ? -form.constant : form.constant;
  for (size_t p = 0; p < form.params.size(); ++p) {
    const Wide term =
        static_cast<Wide>(form.params[p]) * program_.parameters[p].integer;
    size += term < 0 ? -term : term;
  }
  bool fits = size <= kConstantMax;
  for (const int64_t c : form.dims) {
    fits = fits && c <= kFactorMax && c >= -kFactorMax;
  }
  if (fits) return form;
  diagnostics_
      .Error(Code::kTooLarge, expr.range,
             absl::StrCat(Print(expr), " is too large for an index"))
      .Help("factors stay below 2^20, everything else below 2^42");
  return std::nullopt;
}

std::optional<LinearForm> AffineForms::Index(const Expr& expr) {
  auto form = Linear(expr);
  if (!form) return std::nullopt;
  return Fitting(*std::move(form), expr);
}

// `expr` as the largest (lower end) or the smallest (upper end) of some
// floor(form / divisor).
std::optional<AffineForms::Bounds> AffineForms::Floors(const Expr& expr,
                                                       bool is_lower) {
  const bool is_plain = !UsesDimensions(expr);
  if (!is_plain && expr.kind == Expr::Kind::kFunction &&
      expr.text == (is_lower ? "max" : "min")) {
    auto out = Floors(expr.args[0], is_lower);
    const auto more = Floors(expr.args[1], is_lower);
    if (!out || !more) return std::nullopt;
    out->insert(out->end(), more->begin(), more->end());
    return out;
  }
  if (!is_plain && expr.kind == Expr::Kind::kBinary && expr.op == Op::kDivide &&
      !UsesDimensions(expr.args[1])) {
    const auto divisor = Number(expr.args[1]);
    if (!divisor) return std::nullopt;
    if (*divisor <= 0) return NotAffine(expr);
    auto form = Index(expr.args[0]);
    if (!form) return std::nullopt;
    return Bounds{{.form = *std::move(form), .divisor = *divisor}};
  }
  // max(a, b) + c, a/2 - 1.
  if (!is_plain && expr.kind == Expr::Kind::kBinary &&
      (expr.op == Op::kAdd || expr.op == Op::kSubtract)) {
    const Expr& first = expr.args[0];
    const bool is_simple =
        first.kind == Expr::Kind::kName || first.kind == Expr::Kind::kInteger;
    if (!is_simple && UsesDimensions(first)) {
      auto out = Floors(first, is_lower);
      const auto shift = Index(expr.args[1]);
      if (!out || !shift) return std::nullopt;
      const int64_t sign = expr.op == Op::kAdd ? 1 : -1;
      for (CheckedBound& bound : *out) {
        auto sum = Combine(bound.form, 1, *shift, sign * bound.divisor);
        if (!sum) return NotAffine(expr);
        bound.form = *std::move(sum);
      }
      return out;
    }
  }
  auto form = Index(expr);
  if (!form) return std::nullopt;
  return Bounds{{.form = *std::move(form), .divisor = 1}};
}

std::optional<std::vector<CheckedBound>> AffineForms::Lower(const Expr& expr) {
  auto out = Floors(expr, /*is_lower=*/true);
  if (!out) return std::nullopt;
  // index >= floor(f / d) is index >= ceil((f - d + 1) / d).
  for (CheckedBound& bound : *out) bound.form.constant -= bound.divisor - 1;
  return out;
}

std::optional<std::vector<CheckedBound>> AffineForms::Upper(const Expr& expr) {
  return Floors(expr, /*is_lower=*/false);
}

std::optional<CheckedGuard> AffineForms::Condition(const Expr& expr) {
  auto cases = Cases(expr, /*negated=*/false);
  if (!cases) return std::nullopt;
  // No alternative is never; a guard without alternatives is always.
  if (cases->empty()) cases->push_back({AtLeastZero(Constant(-1))});
  for (const auto& alternative : *cases) {
    if (alternative.empty()) return CheckedGuard{};
  }
  return CheckedGuard{.any_of = *std::move(cases)};
}

// Alternatives of which one holds where `expr` does (does not, if negated).
// An empty alternative always holds.
std::optional<AffineForms::Alternatives> AffineForms::Cases(const Expr& expr,
                                                            bool negated) {
  if (!UsesDimensions(expr) && expr.kind != Expr::Kind::kBinary) {
    const auto value = EvaluateInteger(expr, {}, program_);
    if (!value) return NotAffine(expr);
    Fix(expr);
    return (*value != 0) != negated ? Alternatives{{}} : Alternatives{};
  }
  if (expr.kind == Expr::Kind::kUnary && expr.op == Op::kNot) {
    return Cases(expr.args[0], !negated);
  }
  if (expr.kind != Expr::Kind::kBinary) return NotAffine(expr);
  if (expr.op != Op::kAnd && expr.op != Op::kOr) {
    return ComparisonCases(expr, negated);
  }
  auto a = Cases(expr.args[0], negated);
  if (!a) return std::nullopt;
  auto b = Cases(expr.args[1], negated);
  if (!b) return std::nullopt;
  Alternatives out;
  if ((expr.op == Op::kOr) != negated) {
    out = *std::move(a);
    out.insert(out.end(), b->begin(), b->end());
  } else {
    for (const auto& first : *a) {
      for (const auto& second : *b) {
        out.push_back(first);
        out.back().insert(out.back().end(), second.begin(), second.end());
        if (out.size() > kAlternativesMax) break;
      }
    }
  }
  if (out.size() > kAlternativesMax) {
    diagnostics_.Error(Code::kTooLarge, expr.range,
                       absl::StrCat("the condition has more than ",
                                    kAlternativesMax, " cases"));
    return std::nullopt;
  }
  return out;
}

std::optional<AffineForms::Alternatives> AffineForms::ComparisonCases(
    const Expr& expr, bool negated) {
  const auto written = ComparisonOf(expr.op);
  if (!written) return NotAffine(expr);
  const Comparison comparison = negated ? Opposite(*written) : *written;
  const Expr& left = expr.args[0];
  const Expr& right = expr.args[1];
  if (left.type != Type::kInt64) {
    if (UsesDimensions(expr)) {
      diagnostics_
          .Error(Code::kNotAffine, expr.range,
                 "an index is compared with a real number")
          .Help("write the bound as an integer: x > 0,  or  2*x > 1");
      return std::nullopt;
    }
    const auto value = EvaluateInteger(expr, {}, program_);
    if (!value) return NotAffine(expr);
    Fix(expr);
    return (*value != 0) != negated ? Alternatives{{}} : Alternatives{};
  }
  if (left.kind == Expr::Kind::kBinary && left.op == Op::kModulo &&
      UsesDimensions(left) &&
      (comparison == Comparison::kEqual ||
       comparison == Comparison::kNotEqual)) {
    return Remainder(left, right, comparison == Comparison::kEqual);
  }
  const auto a = Index(left);
  if (!a) return std::nullopt;
  const auto b = Index(right);
  if (!b) return std::nullopt;
  const auto difference = Combine(*a, 1, *b, -1);  // a - b
  const auto reversed = Combine(*b, 1, *a, -1);
  if (!difference || !reversed) return NotAffine(expr);
  const auto less = AtLeastZero(Plus(*reversed, -1));
  const auto greater = AtLeastZero(Plus(*difference, -1));
  switch (comparison) {
    case Comparison::kLess:
      return Alternatives{{less}};
    case Comparison::kLessEqual:
      return Alternatives{{AtLeastZero(*reversed)}};
    case Comparison::kGreater:
      return Alternatives{{greater}};
    case Comparison::kGreaterEqual:
      return Alternatives{{AtLeastZero(*difference)}};
    case Comparison::kEqual:
      return Alternatives{{{.form = *difference,
                            .kind = Constraint::Kind::kZero,
                            .modulus = 1}}};
    case Comparison::kNotEqual:
      return Alternatives{{less}, {greater}};
  }
  return std::nullopt;
}

// a % m == value, or a % m != value.
std::optional<AffineForms::Alternatives> AffineForms::Remainder(
    const Expr& modulo, const Expr& value, bool equal) {
  if (UsesDimensions(modulo.args[1])) return NotAffine(modulo);
  if (UsesDimensions(value)) return NotAffine(value);
  const auto modulus = Number(modulo.args[1]);
  const auto wanted = Number(value);
  const auto form = Index(modulo.args[0]);
  if (!modulus || !wanted || !form) return std::nullopt;
  const auto most = static_cast<int64_t>(kAlternativesMax);
  if (*modulus <= 0 || (!equal && *modulus > most)) {
    diagnostics_.Error(Code::kNotAffine, modulo.range,
                       absl::StrCat("the divisor of a remainder is 1 or more",
                                    equal ? "" : ", for != at most ",
                                    equal ? "" : absl::StrCat(most)));
    return std::nullopt;
  }
  Alternatives out;
  if (equal) {
    if (*wanted < 0 || *wanted >= *modulus) return out;
    out.push_back({{.form = Plus(*form, -*wanted),
                    .kind = Constraint::Kind::kDivisible,
                    .modulus = *modulus}});
    return out;
  }
  for (int64_t other = 0; other < *modulus; ++other) {
    if (other == *wanted) continue;
    out.push_back({{.form = Plus(*form, -other),
                    .kind = Constraint::Kind::kDivisible,
                    .modulus = *modulus}});
  }
  return out;
}

}  // namespace dogged::dsl

#include "dsl/text/index_intervals.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace dogged::dsl {
namespace {

using ast::Expr;
using ast::Op;

bool IsTooLarge(WideInteger number) {
  return number > kIntervalMax || number < -kIntervalMax;
}

}  // namespace

std::string Interval::ToString() const {
  const auto from = static_cast<int64_t>(first);
  const auto to = static_cast<int64_t>(last);
  return from == to ? absl::StrCat(from) : absl::StrCat(from, ":", to);
}

void IndexIntervals::Enter(const std::vector<ast::Dimension>& dimensions) {
  ranges_.clear();
  is_whole_ = true;
  for (const ast::Dimension& dimension : dimensions) {
    const auto lower = Of(dimension.range.lower);
    const auto upper = Of(dimension.range.upper);
    const bool has_values = lower && upper && lower->first <= upper->last;
    is_whole_ = is_whole_ && has_values;
    if (lower && upper) {
      ranges_[dimension.name.text] = {lower->first, upper->last};
    }
  }
}

WideInteger IndexIntervals::Product(WideInteger a, WideInteger b) {
  const bool fits =
      a == 0 || b == 0 || (b < 0 ? -b : b) <= kIntervalMax / (a < 0 ? -a : a);
  return fits ? a * b : 2 * kIntervalMax;
}

WideInteger IndexIntervals::FloorQuotient(WideInteger a, WideInteger b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::optional<Interval> IndexIntervals::Of(const Expr& expr) const {
  std::vector<Interval> args;
  for (const Expr& arg : expr.args) {
    const auto of = Of(arg);
    if (!of) return std::nullopt;
    args.push_back(*of);
  }
  const auto out = Combined(expr, args);
  if (!out || IsTooLarge(out->first) || IsTooLarge(out->last)) {
    return std::nullopt;
  }
  return out;
}

std::optional<Interval> IndexIntervals::Combined(
    const Expr& expr, const std::vector<Interval>& args) const {
  if (expr.kind == Expr::Kind::kInteger) {
    return Interval{expr.integer, expr.integer};
  }
  if (expr.kind == Expr::Kind::kName) {
    const auto index = ranges_.find(expr.text);
    if (index != ranges_.end()) return index->second;
    const auto parameter = parameters_.find(expr.text);
    if (parameter == parameters_.end()) return std::nullopt;
    return Interval{parameter->second, parameter->second};
  }
  if (expr.kind == Expr::Kind::kUnary && expr.op == Op::kNegate) {
    return Interval{-args[0].last, -args[0].first};
  }
  if (args.size() != 2) return std::nullopt;
  const Interval &a = args[0], &b = args[1];
  if (expr.kind == Expr::Kind::kFunction && expr.text == "min") {
    return Interval{std::min(a.first, b.first), std::min(a.last, b.last)};
  }
  if (expr.kind == Expr::Kind::kFunction && expr.text == "max") {
    return Interval{std::max(a.first, b.first), std::max(a.last, b.last)};
  }
  if (expr.kind != Expr::Kind::kBinary) return std::nullopt;
  if (expr.op == Op::kAdd) {
    return Interval{a.first + b.first, a.last + b.last};
  }
  if (expr.op == Op::kSubtract) {
    return Interval{a.first - b.last, a.last - b.first};
  }
  if (expr.op == Op::kMultiply) {
    const auto ends =
        std::minmax({Product(a.first, b.first), Product(a.first, b.last),
                     Product(a.last, b.first), Product(a.last, b.last)});
    return Interval{ends.first, ends.second};
  }
  if (expr.op == Op::kDivide && b.first == b.last && b.first > 0) {
    return Interval{FloorQuotient(a.first, b.first),
                    FloorQuotient(a.last, b.first)};
  }
  return std::nullopt;
}

std::string IndexIntervals::ParametersIn(
    const std::vector<const Expr*>& exprs) const {
  std::set<std::string> names;
  for (const Expr* expr : exprs) NameParameters(*expr, names);
  std::string out;
  for (const std::string& name : names) {
    absl::StrAppend(&out, out.empty() ? "; " : ", ", name, " = ",
                    parameters_.at(name));
  }
  return out;
}

void IndexIntervals::NameParameters(const Expr& expr,
                                    std::set<std::string>& names) const {
  if (expr.kind == Expr::Kind::kName && parameters_.count(expr.text) > 0) {
    names.insert(expr.text);
  }
  for (const Expr& arg : expr.args) NameParameters(arg, names);
}

}  // namespace dogged::dsl

#include "dsl/text/unmet_conditions.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/text/comparison.h"

namespace dogged::dsl {
namespace {

using ast::Expr;
using ast::Op;

__extension__ using Wide = __int128;
// Numbers beyond are not followed: sums and products of two fit Wide.
constexpr Wide kNumberMax = Wide{1} << 62;

struct Interval {
  Wide first = 0;
  Wide last = 0;
  bool IsEmpty() const { return first > last; }
};

// factor * index + constant; without an index a number.
struct IndexLine {
  std::string index;
  Wide factor = 0;
  Wide constant = 0;
  bool IsNumber() const { return factor == 0; }
};

Wide FloorQuotient(Wide a, Wide b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

bool IsTooLarge(Wide number) {
  return number > kNumberMax || number < -kNumberMax;
}

// A task, or what else has indices.
struct Place {
  std::string name;
  std::vector<ast::Dimension> dimensions;
};

class Conditions {
 public:
  Conditions(const std::map<std::string, int64_t>& parameters,
             Diagnostics& diagnostics)
      : parameters_(parameters), diagnostics_(diagnostics) {}

  void Enter(const Place& place) {
    place_ = place.name;
    ranges_.clear();
    for (const ast::Dimension& dimension : place.dimensions) {
      const auto lower = IntervalOf(dimension.range.lower);
      const auto upper = IntervalOf(dimension.range.upper);
      if (!lower || !upper) continue;
      ranges_[dimension.name.text] = {lower->first, upper->last};
    }
  }

  // Conditions within `expr`; `help` says what it means if one fails.
  void Note(const Expr& expr, absl::string_view help) {
    if (expr.kind == Expr::Kind::kConditional) {
      NoteAlternatives(expr.args[0], help);
    }
    for (const Expr& arg : expr.args) Note(arg, help);
  }
  void NoteAlternatives(const Expr& condition, absl::string_view help) {
    if (IsBinary(condition, Op::kOr)) {
      for (const Expr& arg : condition.args) NoteAlternatives(arg, help);
      return;
    }
    std::vector<const Expr*> parts;
    Flatten(condition, parts);
    std::set<std::string> indices;
    for (const Expr* part : parts) {
      const auto line = Difference(*part);
      if (line && !line->IsNumber()) indices.insert(line->index);
    }
    for (const std::string& index : indices) NoteIndex(parts, index, help);
  }

  void Report() {
    for (const Unmet& unmet : unmet_) {
      if (met_.count(unmet.text) > 0) continue;
      diagnostics_.Warning(Code::kUnmet, unmet.range, unmet.message)
          .Note(unmet.note)
          .Help(unmet.help);
    }
  }

 private:
  struct Unmet {
    SourceRange range;
    std::string text;
    std::string message;
    std::string note;
    std::string help;
  };

  static bool IsBinary(const Expr& expr, Op op) {
    return expr.kind == Expr::Kind::kBinary && expr.op == op;
  }
  static void Flatten(const Expr& expr, std::vector<const Expr*>& parts) {
    if (!IsBinary(expr, Op::kAnd)) {
      parts.push_back(&expr);
      return;
    }
    for (const Expr& arg : expr.args) Flatten(arg, parts);
  }

  // The parts that compare `index` alone, together.
  void NoteIndex(const std::vector<const Expr*>& parts,
                 const std::string& index, absl::string_view help) {
    const auto range = ranges_.find(index);
    if (range == ranges_.end() || range->second.IsEmpty()) return;
    Interval wanted{-kNumberMax, kNumberMax};
    std::vector<std::string> texts;
    std::set<std::string> names;
    SourceRange place;
    for (const Expr* part : parts) {
      const auto line = Difference(*part);
      if (!line || line->index != index || !Narrow(*part, *line, wanted)) {
        continue;
      }
      texts.push_back(TextOf(part->range));
      place = place.IsNone() ? part->range : Join(place, part->range);
      NameParameters(*part, names);
    }
    const bool is_bounded =
        wanted.first > -kNumberMax && wanted.last < kNumberMax;
    if (!is_bounded || wanted.IsEmpty() || place.IsNone()) return;
    const std::string text = absl::StrJoin(texts, " and ");
    const Interval& has = range->second;
    if (wanted.first <= has.last && wanted.last >= has.first) {
      met_.insert(text);
      return;
    }
    std::string values;
    for (const std::string& name : names) {
      absl::StrAppend(&values, values.empty() ? "" : ", ", name, " = ",
                      parameters_.at(name));
    }
    unmet_.push_back(
        {.range = place,
         .text = text,
         .message = absl::StrCat(text, " holds nowhere in ", place_, ", which ",
                                 "has ", index, " = ", TextOf(has),
                                 values.empty() ? "" : "; ", values),
         .note = absl::StrCat("wants ", index, " = ", TextOf(wanted)),
         .help = std::string(help)});
  }

  // `wanted` where the comparison `part` of `line` with 0 holds, too; false if
  // that is no interval.
  static bool Narrow(const Expr& part, const IndexLine& line,
                     Interval& wanted) {
    auto comparison = ComparisonOf(part.op);
    if (!comparison || *comparison == Comparison::kNotEqual) return false;
    const bool is_turned = line.factor < 0;
    const Wide factor = is_turned ? -line.factor : line.factor;
    const Wide number = is_turned ? line.constant : -line.constant;
    // factor * index COMPARED number, or the other way round if turned.
    const auto at_most = [&](Wide n) {
      wanted.last = std::min(wanted.last, FloorQuotient(n, factor));
    };
    const auto at_least = [&](Wide n) {
      wanted.first = std::max(wanted.first, -FloorQuotient(-n, factor));
    };
    switch (*comparison) {
      case Comparison::kLess:
        is_turned ? at_least(number + 1) : at_most(number - 1);
        return true;
      case Comparison::kLessEqual:
        is_turned ? at_least(number) : at_most(number);
        return true;
      case Comparison::kGreater:
        is_turned ? at_most(number - 1) : at_least(number + 1);
        return true;
      case Comparison::kGreaterEqual:
        is_turned ? at_most(number) : at_least(number);
        return true;
      case Comparison::kEqual:
        at_most(number);
        at_least(number);
        return true;
      case Comparison::kNotEqual:
        return false;
    }
    return false;
  }

  // Left less right of a comparison, if it is a line.
  std::optional<IndexLine> Difference(const Expr& expr) const {
    if (expr.kind != Expr::Kind::kBinary || !ComparisonOf(expr.op)) {
      return std::nullopt;
    }
    return Sum(LineOf(expr.args[0]), LineOf(expr.args[1]), -1);
  }

  static std::optional<IndexLine> Sum(const std::optional<IndexLine>& a,
                                      const std::optional<IndexLine>& b,
                                      Wide sign) {
    if (!a || !b) return std::nullopt;
    const bool is_one = a->IsNumber() || b->IsNumber() || a->index == b->index;
    IndexLine out{.index = a->IsNumber() ? b->index : a->index,
                  .factor = a->factor + sign * b->factor,
                  .constant = a->constant + sign * b->constant};
    if (!is_one || IsTooLarge(out.factor) || IsTooLarge(out.constant)) {
      return std::nullopt;
    }
    return out;
  }

  std::optional<IndexLine> LineOf(const Expr& expr) const {
    if (expr.kind == Expr::Kind::kName && ranges_.count(expr.text) > 0) {
      return IndexLine{.index = expr.text, .factor = 1, .constant = 0};
    }
    if (expr.kind == Expr::Kind::kBinary &&
        (expr.op == Op::kAdd || expr.op == Op::kSubtract)) {
      return Sum(LineOf(expr.args[0]), LineOf(expr.args[1]),
                 expr.op == Op::kAdd ? 1 : -1);
    }
    if (IsBinary(expr, Op::kMultiply)) {
      auto a = LineOf(expr.args[0]);
      auto b = LineOf(expr.args[1]);
      if (a && a->IsNumber()) std::swap(a, b);
      if (!a || !b || !b->IsNumber()) return std::nullopt;
      a->factor = ProductOf(a->factor, b->constant);
      a->constant = ProductOf(a->constant, b->constant);
      return Sum(a, IndexLine{}, 1);
    }
    const auto number = IntervalOf(expr);
    if (!number || number->first != number->last) return std::nullopt;
    return IndexLine{.index = "", .factor = 0, .constant = number->first};
  }

  // Saturates: beyond that nothing is followed.
  static Wide ProductOf(Wide a, Wide b) {
    const bool fits =
        a == 0 || b == 0 || (b < 0 ? -b : b) <= kNumberMax / (a < 0 ? -a : a);
    return fits ? a * b : 2 * kNumberMax;
  }

  // An interval around the values of `expr`; none if it is not followed.
  std::optional<Interval> IntervalOf(const Expr& expr) const {
    std::vector<Interval> args;
    for (const Expr& arg : expr.args) {
      const auto of = IntervalOf(arg);
      if (!of) return std::nullopt;
      args.push_back(*of);
    }
    const auto out = Combined(expr, args);
    if (!out || IsTooLarge(out->first) || IsTooLarge(out->last)) {
      return std::nullopt;
    }
    return out;
  }
  std::optional<Interval> Combined(const Expr& expr,
                                   const std::vector<Interval>& args) const {
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
    if (expr.kind == Expr::Kind::kFunction && args.size() == 2) {
      const Interval &a = args[0], &b = args[1];
      if (expr.text == "min") {
        return Interval{std::min(a.first, b.first), std::min(a.last, b.last)};
      }
      if (expr.text == "max") {
        return Interval{std::max(a.first, b.first), std::max(a.last, b.last)};
      }
    }
    if (expr.kind != Expr::Kind::kBinary) return std::nullopt;
    const Interval &a = args[0], &b = args[1];
    if (expr.op == Op::kAdd) {
      return Interval{a.first + b.first, a.last + b.last};
    }
    if (expr.op == Op::kSubtract) {
      return Interval{a.first - b.last, a.last - b.first};
    }
    if (expr.op == Op::kMultiply) {
      const auto ends =
          std::minmax({ProductOf(a.first, b.first), ProductOf(a.first, b.last),
                       ProductOf(a.last, b.first), ProductOf(a.last, b.last)});
      return Interval{ends.first, ends.second};
    }
    if (expr.op == Op::kDivide && b.first == b.last && b.first > 0) {
      return Interval{FloorQuotient(a.first, b.first),
                      FloorQuotient(a.last, b.first)};
    }
    return std::nullopt;
  }

  void NameParameters(const Expr& expr, std::set<std::string>& names) const {
    if (expr.kind == Expr::Kind::kName && parameters_.count(expr.text) > 0) {
      names.insert(expr.text);
    }
    for (const Expr& arg : expr.args) NameParameters(arg, names);
  }

  static std::string TextOf(const Interval& interval) {
    const auto first = static_cast<int64_t>(interval.first);
    const auto last = static_cast<int64_t>(interval.last);
    return first == last ? absl::StrCat(first) : absl::StrCat(first, ":", last);
  }
  std::string TextOf(SourceRange range) const {
    return diagnostics_.text().substr(
        static_cast<size_t>(range.begin),
        static_cast<size_t>(range.end - range.begin));
  }

  const std::map<std::string, int64_t>& parameters_;
  Diagnostics& diagnostics_;
  std::string place_;
  std::map<std::string, Interval> ranges_;  // by index of the place
  std::vector<Unmet> unmet_;
  std::set<std::string> met_;  // texts of conditions that hold somewhere
};

}  // namespace

void WarnOfUnmetConditions(const ast::Program& program,
                           const std::map<std::string, int64_t>& parameters,
                           Diagnostics& diagnostics) {
  Conditions conditions(parameters, diagnostics);
  for (const ast::Task& task : program.tasks) {
    conditions.Enter({.name = absl::StrCat("task ", task.name.text),
                      .dimensions = task.dimensions});
    if (task.where) {
      conditions.NoteAlternatives(*task.where, "the task has no such point");
    }
    for (const ast::Use& use : task.uses) {
      if (!use.where) continue;
      conditions.NoteAlternatives(
          *use.where,
          absl::StrCat(use.name.text,
                       " is what stands behind 'else' everywhere: is a source "
                       "or receiver outside of the grid?"));
    }
    for (const ast::Statement& statement : task.code) {
      conditions.Note(statement.value,
                      "what stands behind ':' is taken everywhere: is a source "
                      "or receiver outside of the grid?");
    }
  }
  for (const ast::Reduction& reduction : program.reductions) {
    if (!reduction.where) continue;
    std::vector<ast::Dimension> all = reduction.dimensions;
    all.insert(all.end(), reduction.over.begin(), reduction.over.end());
    conditions.Enter({.name = absl::StrCat("reduce ", reduction.ref.array.text),
                      .dimensions = std::move(all)});
    conditions.NoteAlternatives(*reduction.where, "it has no such term");
  }
  conditions.Report();
}

}  // namespace dogged::dsl

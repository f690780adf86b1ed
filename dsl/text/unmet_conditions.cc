#include "dsl/text/unmet_conditions.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/text/comparison.h"
#include "dsl/text/index_intervals.h"

namespace dogged::dsl {
namespace {

using ast::Expr;
using ast::Op;

// factor * index + constant; without an index a number.
struct IndexLine {
  std::string index;
  WideInteger factor = 0;
  WideInteger constant = 0;
  bool IsNumber() const { return factor == 0; }
};

// A task, or what else has indices.
struct Place {
  std::string name;
  std::vector<ast::Dimension> dimensions;
};

class Conditions {
 public:
  Conditions(const std::map<std::string, int64_t>& parameters,
             Diagnostics& diagnostics)
      : intervals_(parameters), diagnostics_(diagnostics) {}

  void Enter(const Place& place) {
    place_ = place.name;
    intervals_.Enter(place.dimensions);
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
    const auto range = intervals_.ranges().find(index);
    if (range == intervals_.ranges().end() || range->second.IsEmpty()) return;
    Interval wanted{-kIntervalMax, kIntervalMax};
    std::vector<std::string> texts;
    std::vector<const Expr*> compared;
    SourceRange place;
    for (const Expr* part : parts) {
      const auto line = Difference(*part);
      if (!line || line->index != index || !Narrow(*part, *line, wanted)) {
        continue;
      }
      texts.push_back(diagnostics_.TextOf(part->range));
      place = place.IsNone() ? part->range : Join(place, part->range);
      compared.push_back(part);
    }
    const bool is_bounded =
        wanted.first > -kIntervalMax && wanted.last < kIntervalMax;
    if (!is_bounded || wanted.IsEmpty() || place.IsNone()) return;
    const std::string text = absl::StrJoin(texts, " and ");
    const Interval& has = range->second;
    if (wanted.Meets(has)) {
      met_.insert(text);
      return;
    }
    unmet_.push_back(
        {.range = place,
         .text = text,
         .message = absl::StrCat(text, " holds nowhere in ", place_, ", which ",
                                 "has ", index, " = ", has.ToString(),
                                 intervals_.ParametersIn(compared)),
         .note = absl::StrCat("wants ", index, " = ", wanted.ToString()),
         .help = std::string(help)});
  }

  // `wanted` where the comparison `part` of `line` with 0 holds, too; false if
  // that is no interval.
  static bool Narrow(const Expr& part, const IndexLine& line,
                     Interval& wanted) {
    auto comparison = ComparisonOf(part.op);
    if (!comparison || *comparison == Comparison::kNotEqual) return false;
    const bool is_turned = line.factor < 0;
    const WideInteger factor = is_turned ? -line.factor : line.factor;
    const WideInteger number = is_turned ? line.constant : -line.constant;
    // factor * index COMPARED number, or the other way round if turned.
    const auto at_most = [&](WideInteger n) {
      wanted.last =
          std::min(wanted.last, IndexIntervals::FloorQuotient(n, factor));
    };
    const auto at_least = [&](WideInteger n) {
      wanted.first =
          std::max(wanted.first, -IndexIntervals::FloorQuotient(-n, factor));
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
                                      WideInteger sign) {
    if (!a || !b) return std::nullopt;
    const bool is_one = a->IsNumber() || b->IsNumber() || a->index == b->index;
    IndexLine out{.index = a->IsNumber() ? b->index : a->index,
                  .factor = a->factor + sign * b->factor,
                  .constant = a->constant + sign * b->constant};
    const auto is_large = [](WideInteger number) {
      return number > kIntervalMax || number < -kIntervalMax;
    };
    if (!is_one || is_large(out.factor) || is_large(out.constant)) {
      return std::nullopt;
    }
    return out;
  }

  std::optional<IndexLine> LineOf(const Expr& expr) const {
    if (expr.kind == Expr::Kind::kName &&
        intervals_.ranges().count(expr.text) > 0) {
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
      a->factor = IndexIntervals::Product(a->factor, b->constant);
      a->constant = IndexIntervals::Product(a->constant, b->constant);
      return Sum(a, IndexLine{}, 1);
    }
    const auto number = intervals_.Of(expr);
    if (!number || number->first != number->last) return std::nullopt;
    return IndexLine{.index = "", .factor = 0, .constant = number->first};
  }

  IndexIntervals intervals_;
  Diagnostics& diagnostics_;
  std::string place_;
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

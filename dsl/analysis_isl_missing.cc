// What is said where a label is read or wanted and nobody makes it.
#include <isl/map.h>
#include <isl/set.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "dsl/analysis_isl.h"
#include "runtime/graph/index_range.h"

namespace dogged::dsl {

void Analysis::ReportMissing(int32_t array, const isl::set& piece) {
  // What the program calls the labels of the piece: a number where all have
  // the same, else the index of whoever reads it.
  const auto text = [&](const std::vector<std::string>& names) {
    std::string out = program_.arrays[static_cast<size_t>(array)].name;
    for (size_t i = 0; i < names.size(); ++i) {
      const auto shared = SharedValue(piece, static_cast<int>(i));
      absl::StrAppend(&out, "(", shared ? absl::StrCat(*shared) : names[i],
                      ")");
    }
    return out;
  };
  for (size_t k = 0; k < tasks_.size(); ++k) {
    const CheckedTask& task = program_.tasks[k];
    for (size_t u = 0; u < task.uses.size(); ++u) {
      const CheckedRef& ref = task.uses[u].ref;
      if (ref.array != array) continue;
      const isl::map reads = tasks_[k].uses[u].intersect_range(piece);
      const isl::set points = reads.domain();
      if (points.is_empty()) continue;
      const auto [first, label] = FirstOf(reads, task);
      std::string where;
      for (size_t d = 0; d < first.size(); ++d) {
        const auto shared = SharedValue(points, static_cast<int>(d));
        if (!shared) continue;
        absl::StrAppend(&where, where.empty() ? " at " : ", ",
                        task.domain.dimensions[d].name, " = ", *shared);
      }
      const auto& over = task.uses[u].over;
      const std::string labels =
          text(IndexNames(ref, over ? *over : task.domain));
      diagnostics_
          .Error(Code::kNoProducer, ref.range,
                 absl::StrCat("no task creates ", labels, ", which ", task.name,
                              " needs", where))
          .Note(absl::StrCat("reaches ",
                             program_.arrays[static_cast<size_t>(array)].name,
                             ToIndex(label).ToString(), PointText(task, first)))
          .Help(
              HelpAhead(task, task.uses[u],
                        HelpWithoutLabels(
                            array, absl::StrCat("add  boundary ", labels,
                                                " = 0,  or shrink a range"))));
      return;
    }
  }
  for (const CheckedResult& result : program_.results) {
    if (result.ref.array != array) continue;
    diagnostics_
        .Error(Code::kNoProducer, result.range,
               absl::StrCat("no task creates ",
                            text(IndexNames(result.ref, result.domain)),
                            ", which is a result"))
        .Note(absl::StrCat("such as ",
                           program_.arrays[static_cast<size_t>(array)].name,
                           ToIndex(FirstPoint(piece)).ToString()))
        .Help(HelpWithoutLabels(
            array, "shrink the range of the result, or widen that of a task"));
    return;
  }
}

// What to do where a label of `array` is missing: before `otherwise` comes that
// all that makes labels of it has an empty range, or that an input does, for
// values beside an input's are seldom meant.
std::string Analysis::HelpWithoutLabels(int32_t array,
                                        std::string otherwise) const {
  const CheckedTask* maker = nullptr;
  for (const CheckedTask& task : program_.tasks) {
    for (const CheckedCreate& create : task.creates) {
      if (create.ref.array == array) maker = &task;
    }
  }
  const bool is_empty = created_[static_cast<size_t>(array)].is_empty();
  const bool is_input =
      maker != nullptr && maker->origin == CheckedTask::Origin::kInput;
  if (maker == nullptr || !(is_empty || is_input)) return otherwise;
  return absl::StrCat(
      is_empty ? "the range of " : "",
      maker->origin == CheckedTask::Origin::kTask ? "task " : "", maker->name,
      ", on line ", diagnostics_.LineAndColumn(maker->range.begin).first,
      is_empty ? ", has no point with these parameters: widen it"
               : ", does not reach there: widen it, or shrink the other range");
}

// What to do where `use` has no producer: before `otherwise` comes that it
// reads what comes after the label that it is for, such as u(x)(t+1) for
// u(x)(t). That is so of an index where the array begins below what the task
// makes and ends with it, and along which the task reads nothing that comes
// before.
std::string Analysis::HelpAhead(const CheckedTask& task, const CheckedUse& use,
                                std::string otherwise) const {
  const auto text = [&](const CheckedRef& ref) {
    return absl::string_view(diagnostics_.text())
        .substr(static_cast<size_t>(ref.range.begin),
                static_cast<size_t>(ref.range.end - ref.range.begin));
  };
  const Domain domain = Instantiate(task.domain, program_);
  const auto begins_below = [&](size_t i, const AffineExpr& made) {
    const IndexRange range = RangesOf(domain, {made}).front();
    bool is_below = false;
    bool is_above = false;
    for (const CheckedTask& other : program_.tasks) {
      for (const CheckedCreate& create : other.creates) {
        if (create.ref.array != use.ref.array || &other == &task) continue;
        const AffineExpr at = Instantiate(create.ref, program_)[i];
        is_below |= at.IsConstant() && at.constant < range.lower;
        is_above |= at.IsConstant() && at.constant > range.upper;
      }
    }
    return is_below && !is_above;
  };
  for (const CheckedCreate& create : task.creates) {
    if (create.ref.array != use.ref.array || use.over) continue;
    const AffineMap made = Instantiate(create.ref, program_);
    for (size_t i = 0; i < made.size(); ++i) {
      const auto steps_ahead = [&](const CheckedUse& one) {
        if (one.ref.array != use.ref.array) return true;
        const AffineExpr step = Instantiate(one.ref, program_)[i] - made[i];
        return !one.over && step.IsConstant() && step.constant > 0;
      };
      if (!std::all_of(task.uses.begin(), task.uses.end(), steps_ahead) ||
          !begins_below(i, made[i])) {
        continue;
      }
      return absl::StrCat(text(use.ref), " comes after ", text(create.ref),
                          ", which ", task.name,
                          " makes of it: read an earlier one");
    }
  }
  return otherwise;
}

}  // namespace dogged::dsl

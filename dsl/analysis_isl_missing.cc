// What is said where a label is read or wanted and nobody makes it.
#include <isl/map.h>
#include <isl/set.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "dsl/analysis_isl.h"
#include "dsl/repeat.h"
#include "runtime/graph/index_range.h"

namespace dogged::dsl {
namespace {

// The indices of a label whose forms are over `domain`: a name, or "" where it
// is not made of one alone. Empty if one is there twice.
std::vector<std::string> PlainIndices(const CheckedRef& ref,
                                      const CheckedDomain& domain) {
  std::vector<std::string> out;
  for (const LinearForm& form : ref.index) {
    std::string name;
    int count = 0;
    for (size_t d = 0; d < domain.dimensions.size(); ++d) {
      if (form.dims[d] == 0) continue;
      name = ++count == 1 ? domain.dimensions[d].name : "";
    }
    if (!name.empty() && std::find(out.begin(), out.end(), name) != out.end()) {
      return {};
    }
    out.push_back(std::move(name));
  }
  return out;
}

// True if all names of `some` are in `all`, and not all at their places.
bool AreMixed(const std::vector<std::string>& some,
              const std::vector<std::string>& all) {
  bool out = false;
  for (size_t i = 0; i < some.size(); ++i) {
    if (some[i].empty()) continue;
    const auto it = std::find(all.begin(), all.end(), some[i]);
    if (it == all.end()) return false;
    out |= static_cast<size_t>(it - all.begin()) != i;
  }
  return out;
}

std::string HelpToMake(const CheckedArray& array, absl::string_view labels) {
  return array.block.empty()
             ? absl::StrCat("add  boundary ", labels,
                            " = 0,  or shrink a range")
             : absl::StrCat("add a task that calls a kernel for  ", labels,
                            ",  or shrink a range");
}

}  // namespace

void Analysis::ReportMissing(int32_t array, const isl::set& piece) {
  const CheckedArray& made = program_.arrays[static_cast<size_t>(array)];
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
          .Note(absl::StrCat("reaches ", made.name, ToIndex(label).ToString(),
                             PointText(task, first)))
          .Help(HelpWithOrder(
              ref, over ? *over : task.domain,
              HelpAhead(
                  task, task.uses[u],
                  HelpWithoutLabels(array, task.name == kConditionTask
                                               ? HelpWithRounds()
                                               : HelpToMake(made, labels)))));
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
        .Help(HelpWithOrder(
            result.ref, result.domain,
            HelpWithoutLabels(
                array,
                "shrink the range of the result, or widen that of a task")));
    return;
  }
}

// What to do where a label of `array` is missing: before `otherwise` comes that
// something that makes labels of it has an empty range, or that an input does,
// for values beside an input's are seldom meant.
std::string Analysis::HelpWithoutLabels(int32_t array,
                                        std::string otherwise) const {
  const CheckedTask* maker = nullptr;
  for (const CheckedTask& task : program_.tasks) {
    for (const CheckedCreate& create : task.creates) {
      if (create.ref.array == array) maker = &task;
    }
  }
  // One that makes nothing comes first.
  bool is_empty = created_[static_cast<size_t>(array)].is_empty();
  for (size_t k = 0; k < tasks_.size(); ++k) {
    const CheckedTask& task = program_.tasks[k];
    if (task.creates.front().ref.array != array) continue;
    if (!tasks_[k].domain.is_empty()) continue;
    maker = &task;
    is_empty = true;
  }
  const bool is_input =
      maker != nullptr && maker->origin == CheckedTask::Origin::kInput;
  if (maker == nullptr || !(is_empty || is_input)) return otherwise;
  return absl::StrCat(
      is_empty ? "the range of " : "",
      maker->origin == CheckedTask::Origin::kTask ? "task " : "", maker->name,
      ", on line ", diagnostics_.LineAndColumn(maker->range.begin).first,
      is_empty ? ", has no point with these parameters: widen it, or turn it "
                 "round"
               : ", does not reach there: widen it, or shrink the other range");
}

// What to do where `ref`, over `domain`, is a label that another place does not
// speak of: before `otherwise` comes that a task or boundary has its indices in
// another order.
std::string Analysis::HelpWithOrder(const CheckedRef& ref,
                                    const CheckedDomain& domain,
                                    std::string otherwise) const {
  const std::vector<std::string> own = PlainIndices(ref, domain);
  const auto help = [&](const CheckedRef& other, const CheckedDomain& of) {
    const std::vector<std::string> names = PlainIndices(other, of);
    const bool is_mixed = other.array == ref.array &&
                          names.size() == own.size() &&
                          (AreMixed(own, names) || AreMixed(names, own));
    if (!is_mixed) return std::string();
    const absl::string_view text = TextAt(other.range);
    return absl::StrCat("line ",
                        diagnostics_.LineAndColumn(other.range.begin).first,
                        " has the indices in another order:  ", text);
  };
  for (const CheckedTask& task : program_.tasks) {
    if (task.origin == CheckedTask::Origin::kBoundary) continue;
    for (const CheckedCreate& create : task.creates) {
      const std::string found = help(create.ref, task.domain);
      if (!found.empty()) return found;
    }
  }
  for (const CheckedBoundary& boundary : program_.boundaries) {
    const std::string found = help(boundary.ref, FreeOf(boundary));
    if (!found.empty()) return found;
  }
  return otherwise;
}

std::string Analysis::HelpWithRounds() const {
  const CheckedRepeat& repeat = *program_.repeat;
  const CheckedParameter& parameter =
      program_.parameters[static_cast<size_t>(repeat.parameter)];
  return absl::StrCat("the condition is asked at every  ", parameter.name,
                      " = ", repeat.first, ":", parameter.integer, ":",
                      repeat.step, ":  make what it reads at all of these");
}

absl::string_view Analysis::TextAt(SourceRange range) const {
  return absl::string_view(diagnostics_.text())
      .substr(static_cast<size_t>(range.begin),
              static_cast<size_t>(range.end - range.begin));
}

// What stands between the brackets of index `i`.
absl::string_view Analysis::IndexText(const CheckedRef& ref, size_t i) const {
  const absl::string_view text = TextAt(ref.range);
  size_t begin = 0;
  int depth = 0;
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(' && depth++ == 0) begin = at + 1;
    if (text[at] != ')' || --depth > 0) continue;
    if (count++ == i) {
      return absl::StripAsciiWhitespace(text.substr(begin, at - begin));
    }
  }
  return "";
}

// True if some index of `ref` is less by a number than in `made`.
bool Analysis::StepsBack(const CheckedRef& ref, const AffineMap& made) const {
  const AffineMap read = Instantiate(ref, program_);
  for (size_t i = 0; i < made.size(); ++i) {
    const AffineExpr step = read[i] - made[i];
    if (step.IsConstant() && step.constant < 0) return true;
  }
  return false;
}

// What to do where `use` has no producer: before `otherwise` comes that it
// reads what comes after the label that it is for, such as u(x)(t+1) for
// u(x)(t). That is so of an index where the array begins below what the task
// makes and ends with it, if it is the last one, or if the task reads nothing
// that comes before along it.
std::string Analysis::HelpAhead(const CheckedTask& task, const CheckedUse& use,
                                std::string otherwise) const {
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
      const bool is_ahead =
          i + 1 == made.size()
              ? steps_ahead(use) && !StepsBack(use.ref, made)
              : std::all_of(task.uses.begin(), task.uses.end(), steps_ahead);
      if (!is_ahead || !begins_below(i, made[i])) continue;
      return absl::StrCat(TextAt(use.ref.range), " comes after ",
                          TextAt(create.ref.range), ", which ", task.name,
                          " makes of it: read an earlier one");
    }
  }
  return otherwise;
}

}  // namespace dogged::dsl

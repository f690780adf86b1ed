// Errors where a label is read or wanted and no task makes it.
#include <isl/map.h>
#include <isl/set.h>
#include <isl/val.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "dsl/check/repeat.h"
#include "dsl/isl/analysis_isl.h"
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

// The labels of the piece as the program would write them: an index is a number
// where all have the same, else the name at the reader.
std::string LabelsText(const std::string& array, const isl::set& piece,
                       const std::vector<std::string>& names) {
  std::string out = array;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto shared = SharedValue(piece, static_cast<int>(i));
    absl::StrAppend(&out, "(", shared ? absl::StrCat(*shared) : names[i], ")");
  }
  return out;
}

std::string RangeText(const std::string& name, int64_t first, int64_t last) {
  return absl::StrCat(name, " = ", first,
                      first == last ? "" : absl::StrCat(":", last));
}

bool IsNumber(const LinearForm& form) {
  return std::all_of(form.dims.begin(), form.dims.end(),
                     [](int64_t factor) { return factor == 0; });
}

}  // namespace

void Analysis::ReportMissing(int32_t array, const isl::set& piece) {
  const CheckedArray& made = program_.arrays[static_cast<size_t>(array)];
  // Labels between the steps of a task are told by numbers.
  const auto stepped = SteppedOver(array, piece);
  const auto text = [&](std::vector<std::string> names) {
    if (stepped) {
      const size_t i = stepped->index;
      names[i] = absl::StrCat(FirstPoint(piece)[i]);
    }
    return LabelsText(made.name, piece, names);
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
      const std::vector<std::string> names =
          IndexNames(ref, over ? *over : task.domain);
      const std::string labels = text(names);
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
                  HelpWithoutLabels(
                      array, task.name == kConditionTask
                                 ? HelpWithRounds()
                                 : HelpToMake(task.uses[u], piece, names)))));
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

// Help where a label of `array` is missing. A maker of its labels with an empty
// range, or an input, is named before `otherwise` is said: values beside an
// input's are seldom meant.
std::string Analysis::HelpWithoutLabels(int32_t array,
                                        std::string otherwise) const {
  const CheckedTask* maker = nullptr;
  for (const CheckedTask& task : program_.tasks) {
    for (const CheckedCreate& create : task.creates) {
      if (create.ref.array == array) maker = &task;
    }
  }
  // A task of an empty range is named first.
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

namespace {

// The least and the greatest included number; none at first.
struct Ends {
  std::optional<int64_t> first;
  std::optional<int64_t> last;

  void Include(std::optional<int64_t> from, std::optional<int64_t> to) {
    if (!from || !to) return;
    first = std::min(*from, first.value_or(*from));
    last = std::max(*to, last.value_or(*to));
  }
};

}  // namespace

Analysis::Grid Analysis::GridOf(int32_t array, int i) const {
  Ends own;  // of tasks that read the array
  Ends others;
  Ends numbers;  // of boundaries
  for (size_t k = 0; k < tasks_.size(); ++k) {
    const CheckedTask& task = program_.tasks[k];
    if (task.origin == CheckedTask::Origin::kBoundary) continue;
    const bool is_of_itself = std::any_of(
        task.uses.begin(), task.uses.end(),
        [array](const CheckedUse& use) { return use.ref.array == array; });
    for (size_t c = 0; c < task.creates.size(); ++c) {
      if (task.creates[c].ref.array != array) continue;
      const isl::set labels = tasks_[k].creates[c].range();
      (is_of_itself ? own : others)
          .Include(Least(labels, i), Greatest(labels, i));
    }
  }
  for (const CheckedBoundary& boundary : program_.boundaries) {
    if (boundary.ref.array != array || boundary.periodic_free >= 0) continue;
    const LinearForm& form = boundary.ref.index[static_cast<size_t>(i)];
    if (!IsNumber(form)) continue;
    const int64_t number = Instantiate(form, program_).constant;
    numbers.Include(number, number);
  }
  Ends all = numbers;
  all.Include(own.first, own.last);
  all.Include(others.first, others.last);
  // Where all tasks begin at one index, labels before it may have been left
  // out.
  const bool starts_before = others.first && others.first < own.first;
  const bool ends_behind = others.last && others.last > own.last;
  return {
      .first = all.first,
      .last = all.last,
      .is_first_sure =
          all.first == numbers.first ||
          (all.first == others.first && (starts_before || !own.first)),
      .is_last_sure = all.last == numbers.last ||
                      (all.last == others.last && (ends_behind || !own.last))};
}

// Whether some result is all along index i, however far that goes.
bool Analysis::IsSliced(int32_t array, size_t i) const {
  return std::any_of(program_.results.begin(), program_.results.end(),
                     [&](const CheckedResult& result) {
                       if (result.ref.array != array) return false;
                       const absl::string_view text = IndexText(result.ref, i);
                       return text.empty() || text == ":";
                     });
}

// The index along which tasks leave out the missing labels, by their steps.
std::optional<Analysis::Steps> Analysis::SteppedOver(
    int32_t array, const isl::set& piece) const {
  for (size_t k = 0; k < tasks_.size(); ++k) {
    const CheckedTask& task = program_.tasks[k];
    if (task.origin == CheckedTask::Origin::kBoundary) continue;
    for (size_t c = 0; c < task.creates.size(); ++c) {
      const CheckedRef& ref = task.creates[c].ref;
      if (ref.array != array) continue;
      const isl::set labels = tasks_[k].creates[c].range();
      for (size_t i = 0; i < ref.index.size(); ++i) {
        const int d = static_cast<int>(i);
        const int64_t step = Stride(labels, d);
        const auto first = Least(labels, d);
        const auto last = Greatest(labels, d);
        if (step < 2 || !first || !last) continue;
        const int64_t missing = FirstPoint(piece)[i];
        if (missing < *first || missing > *last + step ||
            (missing - *first) % step == 0) {
          continue;
        }
        return Steps{
            .task = &task,
            .range = absl::StrCat(
                RangeText(IndexNames(ref, task.domain)[i], *first, *last), ":",
                step),
            .index = i};
      }
    }
  }
  return std::nullopt;
}

// " where x > 0 and x < N-1": keeps a boundary for the labels of the piece off
// the labels that other boundaries meet there.
std::string Analysis::CornersOf(int32_t array, const isl::set& piece,
                                const std::vector<std::string>& names) const {
  const auto a = static_cast<size_t>(array);
  isl_set* all = isl_set_universe(isl_set_get_space(piece.get()));
  for (size_t i = 0; i < names.size(); ++i) {
    const auto shared = SharedValue(piece, static_cast<int>(i));
    if (!shared) continue;
    all = isl_set_fix_val(
        all, isl_dim_set, static_cast<unsigned>(i),
        isl_val_int_from_si(isl_set_get_ctx(piece.get()), *shared));
  }
  const isl::set form =
      isl::manage(all).intersect(read_[a].unite(wanted_[a])).subtract(piece);
  std::vector<std::string> conditions;
  for (const CheckedBoundary& other : program_.boundaries) {
    if (other.ref.array != array || other.periodic_free >= 0) continue;
    const isl::set both = FormOf(other).range().intersect(form);
    if (both.is_empty()) continue;
    for (size_t i = 0; i < names.size(); ++i) {
      const int d = static_cast<int>(i);
      if (!IsNumber(other.ref.index[i]) || SharedValue(piece, d)) continue;
      const auto at = SharedValue(both, d);
      if (!at) continue;
      const absl::string_view sign = *at < Least(piece, d)      ? " > "
                                     : *at > Greatest(piece, d) ? " < "
                                                                : " != ";
      std::string condition =
          absl::StrCat(names[i], sign, IndexText(other.ref, i));
      if (std::find(conditions.begin(), conditions.end(), condition) ==
          conditions.end()) {
        conditions.push_back(std::move(condition));
      }
    }
  }
  return conditions.empty()
             ? ""
             : absl::StrCat(" where ", absl::StrJoin(conditions, " and "));
}

// Help with labels that `use` reads and no task makes. A line to add is only
// offered where the program with it keeps its present meaning: within the grid
// of the array, or at an end of it that nothing else has set.
std::string Analysis::HelpToMake(const CheckedUse& use, const isl::set& piece,
                                 const std::vector<std::string>& names) const {
  const int32_t array = use.ref.array;
  const CheckedArray& made = program_.arrays[static_cast<size_t>(array)];
  const std::string labels = LabelsText(made.name, piece, names);
  if (!made.block.empty()) {
    return absl::StrCat("add a task that calls a kernel for  ", labels,
                        ",  or shrink a range");
  }
  if (const auto stepped = SteppedOver(array, piece)) {
    return absl::StrCat(stepped->task->name, " makes it at ", stepped->range,
                        " alone: leave out the step, or read what that makes");
  }
  std::string reaches;
  for (size_t i = 0; i < names.size(); ++i) {
    const int d = static_cast<int>(i);
    for (const CheckedBoundary& ring : program_.boundaries) {
      if (ring.ref.array != array || ring.periodic_index != d) continue;
      if (!SharedValue(piece, d)) continue;
      const auto from = Least(created_[static_cast<size_t>(array)], d);
      const auto to = Greatest(created_[static_cast<size_t>(array)], d);
      return absl::StrCat(
          made.name, " is a ring along ",
          from && to ? RangeText(names[i], *from, *to) : names[i],
          ", of which tasks make all: widen a range");
    }
    const Grid grid = GridOf(array, d);
    const auto first = Least(piece, d);
    const auto last = Greatest(piece, d);
    if (!grid.first || !grid.last || !first || !last) continue;
    const bool is_before = *first < *grid.first;
    const bool is_behind = *last > *grid.last;
    if (!is_before && !is_behind) continue;
    const isl::set known = Inside(array, KnownLabels(array));
    const auto begin = Least(known, d);
    const auto end = Greatest(known, d);
    // Indices of less than 0 are meant where the array has others.
    const bool is_outside = (is_before && grid.is_first_sure) ||
                            (is_behind && grid.is_last_sure) ||
                            (begin && *begin < 0 && *grid.first >= 0);
    if (is_outside) {
      return absl::StrCat(
          made.name, " is made at ",
          RangeText(names[i], *grid.first, *grid.last), ", and this reads ",
          RangeText(names[i], *first, *last),
          ": read a nearer label, shrink a range, or take a value where there "
          "is none:  as ",
          use.name, " where ... else 0");
    }
    if (!IsSliced(array, i) || !begin || !end) continue;
    absl::StrAppend(&reaches, reaches.empty() ? "" : " and ",
                    RangeText(names[i], *begin, *end));
  }
  return absl::StrCat(
      "add  boundary ", labels, " = 0", CornersOf(array, piece, names),
      reaches.empty() ? "" : absl::StrCat(",  and results have ", reaches),
      ",  or shrink a range");
}

// Help where no other place has the label `ref`, over `domain`: a task or
// boundary that has its indices in another order is named before `otherwise` is
// said.
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

// The text between the brackets of index `i`.
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

// Help with a `use` that has no producer: before `otherwise` comes that it
// reads a label behind the one that the task makes, such as u(x)(t+1) for
// u(x)(t). An index goes ahead like that where the array begins below the
// task's own range and ends with it, if it is the last index, or if the task
// reads nothing that comes before along it.
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

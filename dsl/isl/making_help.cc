#include "dsl/isl/making_help.h"

#include <isl/set.h>
#include <isl/val.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "dsl/check/index_names.h"
#include "dsl/isl/boundary_forms.h"
#include "dsl/isl/label_help.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {
namespace {

std::string RangeText(const std::string& name, int64_t first, int64_t last) {
  return absl::StrCat(name, " = ", first,
                      first == last ? "" : absl::StrCat(":", last));
}

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

// The first and the last value of index i of an array's labels, as far as
// known; an end is sure where not only tasks that read the array make labels.
struct Grid {
  std::optional<int64_t> first;
  std::optional<int64_t> last;
  bool is_first_sure = false;
  bool is_last_sure = false;
};

Grid GridOf(const Proof& proof, int32_t array, int i) {
  Ends own;  // of tasks that read the array
  Ends others;
  Ends numbers;  // of boundaries
  for (size_t k = 0; k < proof.tasks.size(); ++k) {
    const CheckedTask& task = proof.program.tasks[k];
    if (task.origin == CheckedTask::Origin::kBoundary) continue;
    const bool is_of_itself = std::any_of(
        task.uses.begin(), task.uses.end(),
        [array](const CheckedUse& use) { return use.ref.array == array; });
    for (size_t c = 0; c < task.creates.size(); ++c) {
      if (task.creates[c].ref.array != array) continue;
      const isl::set labels = proof.tasks[k].creates[c].range();
      (is_of_itself ? own : others)
          .Include(Least(labels, i), Greatest(labels, i));
    }
  }
  for (const CheckedBoundary& boundary : proof.program.boundaries) {
    if (boundary.ref.array != array || boundary.periodic_free >= 0) continue;
    const LinearForm& form = boundary.ref.index[i];
    if (!form.IsNumber()) continue;
    const int64_t number = Instantiate(form, proof.program).constant;
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

bool Makes(const CheckedTask& task, int32_t array) {
  return std::any_of(task.creates.begin(), task.creates.end(),
                     [array](const CheckedCreate& create) {
                       return create.ref.array == array;
                     });
}

// "x = rx = 600: set rx within 0:511": the index that leads outside, and a way
// back to what is `made`. Index i has one number, or depends on the task's.
std::string OutsideWords(const Proof& proof, const CheckedRef& ref, size_t i,
                         const std::string& name,
                         std::pair<int64_t, int64_t> read,
                         const std::string& made) {
  if (!ref.index[i].IsNumber()) {
    return absl::StrCat(RangeText(name, read.first, read.second),
                        ": read a nearer label, shrink a range");
  }
  const std::string text(IndexText(proof.diagnostics, ref, i));
  const auto& parameters = proof.program.parameters;
  if (std::any_of(
          parameters.begin(), parameters.end(),
          [&text](const CheckedParameter& p) { return p.name == text; })) {
    return absl::StrCat(name, " = ", text, " = ", read.first, ": set ", text,
                        " within ", made);
  }
  return absl::StrCat(RangeText(name, read.first, read.second),
                      ": read a label within ", made);
}

// Whether some result is all along index i, however far that goes.
bool IsSliced(const Proof& proof, int32_t array, size_t i) {
  return std::any_of(proof.program.results.begin(), proof.program.results.end(),
                     [&](const CheckedResult& result) {
                       if (result.ref.array != array) return false;
                       const absl::string_view text =
                           IndexText(proof.diagnostics, result.ref, i);
                       return text.empty() || text == ":";
                     });
}

// " where x > 0 and x < N-1": keeps a boundary for the labels of the piece off
// the labels that other boundaries meet there.
std::string CornersOf(const Proof& proof, int32_t array, const isl::set& piece,
                      const std::vector<std::string>& names) {
  isl_set* all = isl_set_universe(isl_set_get_space(piece.get()));
  for (size_t i = 0; i < names.size(); ++i) {
    const auto shared = SharedValue(piece, static_cast<int>(i));
    if (!shared) continue;
    all = isl_set_fix_val(
        all, isl_dim_set, static_cast<unsigned>(i),
        isl_val_int_from_si(isl_set_get_ctx(piece.get()), *shared));
  }
  const isl::set form =
      isl::manage(all)
          .intersect(proof.read[array].unite(proof.wanted[array]))
          .subtract(piece);
  std::vector<std::string> conditions;
  for (const CheckedBoundary& other : proof.program.boundaries) {
    if (other.ref.array != array || other.periodic_free >= 0) continue;
    const isl::set both = FormOf(other, proof.sets).range().intersect(form);
    if (both.is_empty()) continue;
    for (size_t i = 0; i < names.size(); ++i) {
      const int d = static_cast<int>(i);
      if (!other.ref.index[i].IsNumber() || SharedValue(piece, d)) continue;
      const auto at = SharedValue(both, d);
      if (!at) continue;
      const absl::string_view sign = *at < Least(piece, d)      ? " > "
                                     : *at > Greatest(piece, d) ? " < "
                                                                : " != ";
      std::string condition = absl::StrCat(
          names[i], sign, IndexText(proof.diagnostics, other.ref, i));
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

}  // namespace

std::string LabelsText(const std::string& array, const isl::set& piece,
                       const std::vector<std::string>& names) {
  std::string out = array;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto shared = SharedValue(piece, static_cast<int>(i));
    absl::StrAppend(&out, "(", shared ? absl::StrCat(*shared) : names[i], ")");
  }
  return out;
}

std::optional<Steps> SteppedOver(const Proof& proof, int32_t array,
                                 const isl::set& piece) {
  for (size_t k = 0; k < proof.tasks.size(); ++k) {
    const CheckedTask& task = proof.program.tasks[k];
    if (task.origin == CheckedTask::Origin::kBoundary) continue;
    for (size_t c = 0; c < task.creates.size(); ++c) {
      const CheckedRef& ref = task.creates[c].ref;
      if (ref.array != array) continue;
      const isl::set labels = proof.tasks[k].creates[c].range();
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
                RangeText(IndexNames(proof.program, ref, task.domain)[i],
                          *first, *last),
                ":", step),
            .index = i};
      }
    }
  }
  return std::nullopt;
}

std::string HelpToMake(const Proof& proof, const CheckedTask& task,
                       const CheckedUse& use, const isl::set& piece,
                       const std::vector<std::string>& names) {
  const int32_t array = use.ref.array;
  const CheckedArray& made = proof.program.arrays[array];
  const std::string labels = LabelsText(made.name, piece, names);
  if (!made.block.empty()) {
    return absl::StrCat("add a task that calls a kernel for  ", labels,
                        ",  or shrink a range");
  }
  if (const auto stepped = SteppedOver(proof, array, piece)) {
    return absl::StrCat(stepped->task->name, " makes it at ", stepped->range,
                        " alone: leave out the step, or read what that makes");
  }
  std::string reaches;
  for (size_t i = 0; i < names.size(); ++i) {
    const int d = static_cast<int>(i);
    for (const CheckedBoundary& ring : proof.program.boundaries) {
      if (ring.ref.array != array || ring.periodic_index != d) continue;
      if (!SharedValue(piece, d)) continue;
      const auto from = Least(proof.created[array], d);
      const auto to = Greatest(proof.created[array], d);
      return absl::StrCat(
          made.name, " is a ring along ",
          from && to ? RangeText(names[i], *from, *to) : names[i],
          ", of which tasks make all: widen a range");
    }
    const Grid grid = GridOf(proof, array, d);
    const auto first = Least(piece, d);
    const auto last = Greatest(piece, d);
    if (!grid.first || !grid.last || !first || !last) continue;
    const bool is_before = *first < *grid.first;
    const bool is_behind = *last > *grid.last;
    if (!is_before && !is_behind) continue;
    const isl::set known = proof.Inside(array, proof.KnownLabels(array));
    const auto begin = Least(known, d);
    const auto end = Greatest(known, d);
    const bool is_far = !Makes(task, array) && !use.over &&
                        (use.ref.index[i].IsNumber() ||
                         *grid.first - *first > 1 || *last - *grid.last > 1);
    // Indices of less than 0 are meant where the array has others.
    const bool is_outside = (is_before && grid.is_first_sure) ||
                            (is_behind && grid.is_last_sure) ||
                            (begin && *begin < 0 && *grid.first >= 0) || is_far;
    if (is_outside) {
      return absl::StrCat(
          made.name, " is made at ",
          RangeText(names[i], *grid.first, *grid.last), ", and this reads ",
          OutsideWords(proof, use.ref, i, names[i], {*first, *last},
                       absl::StrCat(*grid.first, ":", *grid.last)),
          ", or take a value where there is none:  as ", use.name,
          " where ... else 0");
    }
    if (!IsSliced(proof, array, i) || !begin || !end) continue;
    absl::StrAppend(&reaches, reaches.empty() ? "" : " and ",
                    RangeText(names[i], *begin, *end));
  }
  return absl::StrCat(
      "add  boundary ", labels, " = 0", CornersOf(proof, array, piece, names),
      reaches.empty() ? "" : absl::StrCat(",  and results have ", reaches),
      ",  or shrink a range");
}

}  // namespace dogged::dsl

// Proof that labels which a loop's tasks read exist, in whatever round it ends.
// Part of the isl adapter.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "dsl/check/repeat.h"
#include "dsl/isl/analysis_isl.h"

namespace dogged::dsl {

isl::map IslSets::NotYet(int32_t k, int32_t l) const {
  const CheckedRepeat& repeat = *program_.repeat;
  // As text, of the indices from `first` on.
  const auto time = [&](int32_t of, size_t first) {
    const CheckedTask& task = program_.tasks[static_cast<size_t>(of)];
    const AffineExpr expr =
        TimeOf(task.domain, program_).value_or(AffineExpr());
    std::string out = absl::StrCat(expr.constant);
    for (size_t d = 0; d < task.domain.dimensions.size(); ++d) {
      absl::StrAppend(&out, " + ", expr.coefficients[d], "*i", first + d);
    }
    return out;
  };
  const auto tuple = [&](int32_t of, size_t first) {
    std::vector<std::string> dims;
    const auto& task = program_.tasks[static_cast<size_t>(of)];
    for (size_t d = 0; d < task.domain.dimensions.size(); ++d) {
      dims.push_back(absl::StrCat("i", first + d));
    }
    return absl::StrCat(TaskTuple(of), "[", absl::StrJoin(dims, ", "), "]");
  };
  const size_t own =
      program_.tasks[static_cast<size_t>(k)].domain.dimensions.size();
  const int64_t last =
      program_.parameters[static_cast<size_t>(repeat.parameter)].integer;
  const std::string round =
      absl::StrCat(repeat.first, " + ", repeat.step, "*s");
  return isl::map(
      context_, absl::StrCat("{ ", tuple(k, 0), " -> ", tuple(l, own),
                             " : exists s : s >= 0 and ", round, " <= ", last,
                             " and ", round, " >= ", time(k, 0), " and ", round,
                             " < ", time(l, own), " }"));
}

isl::set IslSets::WantedAtSomeEnd(const CheckedResult& result) const {
  const auto labels_in = [&result](const IslSets& sets) {
    return sets.RefMap("R", result.domain.dimensions.size(), result.ref)
        .intersect_domain(sets.Points("R", result.domain))
        .range();
  };
  if (!program_.repeat) return labels_in(*this);
  const CheckedRepeat& repeat = *program_.repeat;
  const auto& parameter =
      program_.parameters[static_cast<size_t>(repeat.parameter)];
  IslSets sets = *this;
  sets.has_ends_ = true;
  sets.prefix_ = prefix_.empty()
                     ? "[r] -> "
                     : absl::StrCat("[r, ", absl::StripPrefix(prefix_, "["));
  absl::StrAppend(&sets.assumption_, " and ", repeat.first, " <= r and (r - ",
                  repeat.first, ") mod ", repeat.step, " = 0 and r <= ",
                  symbolic_ && !parameter.is_fixed
                      ? absl::StrCat("p", repeat.parameter)
                      : absl::StrCat(parameter.integer));
  isl_set* labels = labels_in(sets).release();
  const int r = isl_set_find_dim_by_name(labels, isl_dim_param, "r");
  if (r >= 0) {
    labels =
        isl_set_project_out(labels, isl_dim_param, static_cast<unsigned>(r), 1);
  }
  return isl::manage(labels);
}

// A proof with symbols is one for every round; numbers are those of the last
// round, and say nothing of earlier ones. Boundaries are no tasks of their own
// here: they are run when a task reads them.
void Analysis::Rounds() {
  if (!program_.repeat || symbolic_) return;
  for (size_t k = 0; k < tasks_.size(); ++k) {
    const CheckedTask& task = program_.tasks[k];
    if (task.origin == CheckedTask::Origin::kBoundary) continue;
    if (!TimeOf(task.domain, program_)) continue;  // lowering says so
    for (size_t u = 0; u < task.uses.size(); ++u) {
      if (ReadsLater(k, task.uses[u].ref, tasks_[k].uses[u])) break;
    }
  }
}

// True, and said, if points of class k read labels that some round in which
// they run does not make. `reads` takes them to labels of `ref`'s array.
bool Analysis::ReadsLater(size_t k, const CheckedRef& ref,
                          const isl::map& reads) {
  for (size_t l = 0; l < tasks_.size(); ++l) {
    const CheckedTask& maker = program_.tasks[l];
    for (size_t c = 0; c < maker.creates.size(); ++c) {
      if (maker.creates[c].ref.array != ref.array) continue;
      const isl::map pairs = reads.apply_range(tasks_[l].creates[c].reverse());
      if (!pairs.is_empty() && IsMadeLater(k, ref, l, pairs)) return true;
    }
  }
  return false;
}

// The same for pairs of a reader and a maker, a point of class l.
bool Analysis::IsMadeLater(size_t k, const CheckedRef& ref, size_t l,
                           const isl::map& pairs) {
  const CheckedTask& maker = program_.tasks[l];
  if (maker.origin == CheckedTask::Origin::kBoundary) {
    for (const isl::map& uses : tasks_[l].uses) {
      if (ReadsLater(k, ref, pairs.apply_range(uses))) return true;
    }
    return false;
  }
  if (!TimeOf(maker.domain, program_)) return false;
  const isl::map late = pairs.intersect(
      sets_.NotYet(static_cast<int32_t>(k), static_cast<int32_t>(l)));
  if (late.is_empty()) return false;
  if (Fails()) ReportLater(k, ref, l, late);
  return true;
}

void Analysis::ReportLater(size_t k, const CheckedRef& ref, size_t l,
                           const isl::map& late) {
  const CheckedTask& task = program_.tasks[k];
  const CheckedTask& maker = program_.tasks[l];
  const CheckedRepeat& repeat = *program_.repeat;
  const auto [point, made] = FirstOf(late, task);
  const int64_t time = TimeOf(task.domain, program_)->Evaluate(ToIndex(point));
  const int64_t steps =
      std::max<int64_t>(0, CeilDiv(time - repeat.first, repeat.step));
  const std::string& parameter =
      program_.parameters[static_cast<size_t>(repeat.parameter)].name;
  std::string label;
  for (const CheckedCreate& create : maker.creates) {
    if (create.ref.array == ref.array) label = LabelText(create.ref, made);
  }
  diagnostics_
      .Error(Code::kRepeat, ref.range,
             absl::StrCat("if the loop ends at ", parameter, " = ",
                          repeat.first + steps * repeat.step,
                          ", nothing makes ", label, ", which ", task.name,
                          " needs", PointText(task, point)))
      .Help(absl::StrCat("read what the first round makes, or let ", parameter,
                         " begin later"));
}

}  // namespace dogged::dsl

// Boundaries become tasks, and where two of them meet. Part of the isl adapter.
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/analysis_isl.h"
#include "dsl/repeat.h"

namespace dogged::dsl {

// Makes a task of each boundary: its indices range over the labels that are
// read or wanted and that no task creates. What periodic boundaries take is
// what then is left, in their order: they read further labels, which may be
// those of other boundaries.
void Analysis::Boundaries() {
  const std::vector<isl::set> created = created_;
  const std::vector<isl::set> sources = PeriodicSources();
  for (const CheckedBoundary& boundary : program_.boundaries) {
    const auto a = static_cast<size_t>(boundary.ref.array);
    if (boundary.periodic_free >= 0) continue;
    const isl::set labels =
        read_[a].unite(wanted_[a]).unite(sources[a]).subtract(created[a]);
    CheckedTask task = BoundaryTask(boundary);
    task.code.front().value = boundary.value;
    if (!AddBoundaryTask(boundary, labels, std::move(task)) && Fails()) {
      WarnOfIdle(boundary, read_[a].unite(wanted_[a]).unite(sources[a]));
    }
  }
  for (const CheckedBoundary& boundary : program_.boundaries) {
    if (boundary.periodic_free < 0) continue;
    Periodic(boundary, created[static_cast<size_t>(boundary.ref.array)]);
  }
}

// What is `needed` of its array has nothing that only it could give.
void Analysis::WarnOfIdle(const CheckedBoundary& boundary,
                          const isl::set& needed) {
  const isl::set mine = FormOf(boundary).range().intersect(needed);
  for (size_t k = 0; k < tasks_.size(); ++k) {
    const CheckedTask& task = program_.tasks[k];
    for (size_t c = 0; c < task.creates.size(); ++c) {
      if (task.creates[c].ref.array != boundary.ref.array) continue;
      if (tasks_[k].creates[c].range().intersect(mine).is_empty()) continue;
      diagnostics_
          .Warning(Code::kBoundary, boundary.range,
                   "tasks create all of this that is read or wanted")
          .Note(
              absl::StrCat("such as ", task.name, ", on line ",
                           diagnostics_.LineAndColumn(task.range.begin).first))
          .Help(HelpWithOrder(boundary.ref, FreeOf(boundary),
                              "leave it out, or shrink the range of the task"));
      return;
    }
  }
  std::string labels;
  for (int i = 0; i < static_cast<int>(boundary.ref.index.size()); ++i) {
    const auto least = Least(needed, i);
    const auto greatest = Greatest(needed, i);
    if (!least || !greatest) break;
    absl::StrAppend(&labels, "(", *least, ":", *greatest, ")");
  }
  const std::string& name =
      program_.arrays[static_cast<size_t>(boundary.ref.array)].name;
  diagnostics_
      .Warning(Code::kBoundary, boundary.range, "nothing reads or wants this")
      .Help(HelpWithOrder(
          boundary.ref, FreeOf(boundary),
          labels.empty() ? absl::StrCat("nothing reads ", name)
                         : absl::StrCat("what is read or wanted is within  ",
                                        name, labels)));
}

// Its free indices, where its condition holds.
CheckedDomain Analysis::FreeOf(const CheckedBoundary& boundary) {
  CheckedDomain free;
  for (const std::string& name : boundary.free) {
    free.dimensions.push_back(
        {.name = name, .range = {}, .lower = {}, .upper = {}});
  }
  free.guard = boundary.where;
  return free;
}

// Its free indices to the labels that it may give values to.
isl::map Analysis::FormOf(const CheckedBoundary& boundary) const {
  return sets_.RefMap("F", boundary.free.size(), boundary.ref)
      .intersect_domain(sets_.Points("F", FreeOf(boundary)));
}

// Where a label beyond an end of a ring takes its value from: first - last - 1
// or last - first + 1 further on.
CheckedRef Analysis::SourceOf(const CheckedBoundary& boundary,
                              const std::pair<LinearForm, LinearForm>& range,
                              bool is_below) {
  CheckedRef out = boundary.ref;
  LinearForm& source = out.index[static_cast<size_t>(boundary.periodic_index)];
  const auto& [first, last] = range;
  const int64_t sign = is_below ? 1 : -1;
  for (size_t p = 0; p < source.params.size(); ++p) {
    source.params[p] += sign * (last.params[p] - first.params[p]);
  }
  source.constant += sign * (last.constant - first.constant + 1);
  return out;
}

// What periodic boundaries are going to read, by array: as in Periodic, before
// the plain ones are tasks.
std::vector<isl::set> Analysis::PeriodicSources() const {
  std::vector<isl::set> taken = created_;
  for (const CheckedBoundary& boundary : program_.boundaries) {
    if (boundary.periodic_free >= 0) continue;
    isl::set& set = taken[static_cast<size_t>(boundary.ref.array)];
    set = set.unite(FormOf(boundary).range());
  }
  std::vector<isl::set> out;
  for (size_t a = 0; a < created_.size(); ++a) {
    out.push_back(sets_.NoLabel(static_cast<int32_t>(a)));
  }
  for (const CheckedBoundary& boundary : program_.boundaries) {
    const auto a = static_cast<size_t>(boundary.ref.array);
    if (boundary.periodic_free < 0) continue;
    const auto range = sets_.RangeOf(created_[a], boundary.periodic_index);
    if (!range) continue;  // Periodic says so
    for (const bool is_below : {true, false}) {
      const isl::set labels =
          read_[a]
              .unite(wanted_[a])
              .unite(out[a])
              .intersect(sets_.Beyond(
                  boundary.ref.array, boundary.periodic_index,
                  is_below ? range->first : range->second, is_below));
      const isl::map form =
          FormOf(boundary).intersect_range(labels.subtract(taken[a]));
      out[a] = out[a].unite(sets_
                                .RefMap("F", boundary.free.size(),
                                        SourceOf(boundary, *range, is_below))
                                .intersect_domain(form.domain())
                                .range());
      taken[a] = taken[a].unite(form.range());
    }
  }
  return out;
}

// Without its domain; the value it sets is yet to come.
CheckedTask Analysis::BoundaryTask(const CheckedBoundary& boundary) const {
  const std::string& name =
      program_.arrays[static_cast<size_t>(boundary.ref.array)].name;
  CheckedTask task;
  task.name = boundary.name;
  task.origin = CheckedTask::Origin::kBoundary;
  task.range = boundary.range;
  task.creates.push_back({.ref = boundary.ref, .name = name});
  task.code.push_back({.target = ast::NameKind::kCreate,
                       .index = 0,
                       .name = name,
                       .value = {}});
  return task;
}

// Adds the task for all `labels` that the boundary's form covers; false if
// there are none.
bool Analysis::AddBoundaryTask(const CheckedBoundary& boundary,
                               const isl::set& labels, CheckedTask task) {
  const isl::set points = FormOf(boundary).intersect_range(labels).domain();
  if (points.is_empty()) return false;
  const auto domain = sets_.DomainOf(points, boundary.free);
  if (!domain) {
    if (Fails()) {
      diagnostics_
          .Error(Code::kBoundary, boundary.range,
                 "the labels of this boundary have no simple range")
          .Help("write a task that creates them");
    }
    return true;
  }
  task.domain = *domain;
  // What is wanted where a loop ends, and read nowhere, has a form that does
  // not tell rounds apart; numbers do.
  if (symbolic_ && !TimeOf(task.domain, program_)) return !Fails();
  program_.tasks.push_back(std::move(task));
  AddTask(static_cast<int32_t>(program_.tasks.size()) - 1);
  return true;
}

// Labels beyond an end of what tasks create take their value from one period
// further in: two tasks.
void Analysis::Periodic(const CheckedBoundary& boundary,
                        const isl::set& created) {
  const auto a = static_cast<size_t>(boundary.ref.array);
  const auto range = sets_.RangeOf(created, boundary.periodic_index);
  if (!range) {
    if (Fails()) {
      diagnostics_
          .Error(Code::kBoundary, boundary.range,
                 "what tasks create has no simple range along this index")
          .Help("a periodic index needs a first and a last value");
    }
    return;
  }
  const auto& [first, last] = *range;
  bool is_read = false;
  bool is_taken = false;  // by boundaries before
  for (const bool is_below : {true, false}) {
    CheckedTask task = BoundaryTask(boundary);
    task.name += is_below ? " below" : " above";
    task.uses.push_back({.ref = SourceOf(boundary, *range, is_below),
                         .name = "inside",
                         .guard = {},
                         .else_value = {}});
    ast::Expr& value = task.code.front().value;
    value.kind = ast::Expr::Kind::kName;
    value.text = "inside";
    value.type = TypeOf(program_.arrays[a].element);
    value.name_kind = ast::NameKind::kUse;
    value.index = 0;
    const isl::set beyond =
        read_[a]
            .unite(wanted_[a])
            .intersect(sets_.Beyond(boundary.ref.array, boundary.periodic_index,
                                    is_below ? first : last, is_below));
    is_read |= AddBoundaryTask(boundary, beyond.subtract(created_[a]),
                               std::move(task));
    is_taken |= !beyond.is_empty();
  }
  if (!is_read && Fails()) {
    diagnostics_.Warning(Code::kBoundary, boundary.range,
                         is_taken
                             ? "other boundaries create all that is read or "
                               "wanted beyond the ends"
                             : "nothing reads or wants a label beyond the "
                               "ends");
  }
}

// The condition under which boundary `l` creates no label of `other`, which has
// numbers where the boundary has indices: "x > 0". Empty if it has none.
std::string Analysis::Apart(const CheckedRef& other, size_t l) const {
  const CheckedTask& task = program_.tasks[l];
  const CheckedRef& own = task.creates.front().ref;
  std::vector<std::string> any_of;
  for (size_t i = 0; i < own.index.size(); ++i) {
    const AffineExpr number = Instantiate(other.index[i], program_);
    const AffineExpr index = Instantiate(own.index[i], program_);
    const int d = index.LastIndex();
    if (!number.IsConstant() || d < 0 || index != AffineExpr::Index(d))
      continue;
    const bool is_first = number.constant == Least(tasks_[l].domain, d);
    const bool is_last = number.constant == Greatest(tasks_[l].domain, d);
    any_of.push_back(absl::StrCat(
        task.domain.dimensions[static_cast<size_t>(d)].name,
        is_first ? " > " : (is_last ? " < " : " != "), IndexText(other, i)));
  }
  const std::string out = absl::StrJoin(any_of, " or ");
  return any_of.size() > 1 ? absl::StrCat("(", out, ")") : out;
}

void Analysis::ReportClashes() const {
  for (const auto& [l, clash] : clashes_) {
    const std::vector<std::string>& conditions = clash.conditions;
    const bool has_all =
        absl::c_none_of(conditions, [](auto& text) { return text.empty(); });
    const bool is_one = clash.lines.size() == 1;
    diagnostics_
        .Error(Code::kTwoProducers, program_.tasks[l].creates[0].ref.range,
               clash.message)
        .Note(absl::StrCat(
            is_one ? "the other one is on line " : "others are on lines ",
            absl::StrJoin(clash.lines, ", ")))
        .Help(has_all ? absl::StrCat("leave ",
                                     is_one ? "that to the other one"
                                            : "these to the others",
                                     ":  where ",
                                     absl::StrJoin(conditions, " and "))
                      : "give such labels to one of them with  where");
  }
}

}  // namespace dogged::dsl

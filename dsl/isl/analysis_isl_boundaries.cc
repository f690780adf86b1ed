// Boundaries become tasks, and where two of them meet. Part of the isl adapter.
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/check/repeat.h"
#include "dsl/isl/analysis_isl.h"

namespace dogged::dsl {
namespace {

bool HasDimensions(const LinearForm& form) {
  return absl::c_any_of(form.dims, [](int64_t factor) { return factor != 0; });
}

}  // namespace

// Makes a task of each boundary: its indices range over the labels that are
// read or wanted and that no task creates. Periodic boundaries then take the
// remaining labels, in their order: they read further labels, which may belong
// to other boundaries.
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
    const isl::set needed = read_[a].unite(wanted_[a]).unite(sources[a]);
    if (AddBoundaryTask(boundary, labels, std::move(task))) {
      WarnOfLost(boundary, needed);
    } else if (Fails()) {
      WarnOfIdle(boundary, needed);
    }
  }
  for (const CheckedBoundary& boundary : program_.boundaries) {
    if (boundary.periodic_free < 0) continue;
    Periodic(boundary, created[static_cast<size_t>(boundary.ref.array)]);
  }
}

// Warns that the boundary makes nothing: tasks create all labels of its form
// that are `needed`.
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

// Where one form is of the other's edges they cross at a corner, which the task
// has: phi(x)(0) and a boundary phi(0)(t).
static bool CrossAtCorner(const CheckedRef& boundary, const CheckedTask& task,
                          const CheckedRef& made) {
  for (size_t i = 0; i < made.index.size(); ++i) {
    if (!HasDimensions(boundary.index[i])) continue;
    bool is_number = true;
    for (size_t d = 0; d < task.domain.dimensions.size(); ++d) {
      const CheckedDimension& dimension = task.domain.dimensions[d];
      const bool is_single =
          dimension.lower.size() == 1 && dimension.upper.size() == 1 &&
          dimension.lower[0].divisor == 1 && dimension.upper[0].divisor == 1 &&
          dimension.lower[0].form == dimension.upper[0].form;
      is_number = is_number && (made.index[i].dims[d] == 0 || is_single);
    }
    if (is_number) return true;
  }
  return false;
}

// Warns if a task makes a part of the `needed` labels of a boundary's form, and
// the boundary the rest: a range begins at 0 where another begins at 1. A form
// without a number is meant for such a rest.
void Analysis::WarnOfLost(const CheckedBoundary& boundary,
                          const isl::set& needed) {
  if (boundary.free.size() >= boundary.ref.index.size()) return;
  const isl::set mine = FormOf(boundary).range().intersect(needed);
  for (size_t k = 0; k < tasks_.size(); ++k) {
    const CheckedTask& task = program_.tasks[k];
    if (task.origin == CheckedTask::Origin::kBoundary) continue;
    for (size_t c = 0; c < task.creates.size(); ++c) {
      const CheckedRef& made = task.creates[c].ref;
      if (made.array != boundary.ref.array ||
          CrossAtCorner(boundary.ref, task, made)) {
        continue;
      }
      const isl::set lost = mine.intersect(tasks_[k].creates[c].range());
      if (lost.is_empty() || !Fails()) continue;
      ReportLost(boundary, task, lost);
      return;
    }
  }
}

void Analysis::ReportLost(const CheckedBoundary& boundary,
                          const CheckedTask& task, const isl::set& lost) {
  const isl::map form = FormOf(boundary);
  CheckedTask free;
  free.domain = FreeOf(boundary);
  const isl::set points = form.intersect_range(lost).domain();
  // The boundary's own points are all before or all behind these, in one index.
  const isl::set kept =
      sets_.Points("F", program_.tasks.back().domain).subtract(points);
  std::string condition;
  for (size_t d = 0; d < boundary.free.size(); ++d) {
    const int i = static_cast<int>(d);
    const auto first = Least(points, i);
    const auto last = Greatest(points, i);
    if (!first || !last) continue;
    const auto most = Greatest(kept, i);
    const auto least = Least(kept, i);
    if (most && *most < *first) {
      condition = absl::StrCat(boundary.free[d], " < ", *first);
    } else if (least && *least > *last) {
      condition = absl::StrCat(boundary.free[d], " > ", *last);
    }
  }
  diagnostics_
      .Warning(
          Code::kBoundary, boundary.range,
          absl::StrCat(
              task.name, ", on line ",
              diagnostics_.LineAndColumn(task.range.begin).first, ", creates ",
              program_.arrays[static_cast<size_t>(boundary.ref.array)].name,
              ToIndex(FirstPoint(lost)).ToString(),
              ", so this boundary does not hold there"))
      .Note(absl::StrCat("as", RangesText(free, points)))
      .Help(absl::StrCat(
          "shrink the range of ", task.name, ", or leave these to it here:  ",
          condition.empty() ? "where ..." : absl::StrCat("where ", condition)));
}

// A boundary's free indices, where its condition holds.
CheckedDomain Analysis::FreeOf(const CheckedBoundary& boundary) {
  CheckedDomain free;
  for (const std::string& name : boundary.free) {
    free.dimensions.push_back(
        {.name = name, .range = {}, .lower = {}, .upper = {}});
  }
  free.guard = boundary.where;
  return free;
}

// A boundary's free indices to the labels that it may give values to.
isl::map Analysis::FormOf(const CheckedBoundary& boundary) const {
  return sets_.RefMap("F", boundary.free.size(), boundary.ref)
      .intersect_domain(sets_.Points("F", FreeOf(boundary)));
}

// `form` and `rounds` times the length of a ring from first to last.
static LinearForm Shifted(LinearForm form,
                          const std::pair<LinearForm, LinearForm>& range,
                          int64_t rounds) {
  const auto& [first, last] = range;
  for (size_t p = 0; p < form.params.size(); ++p) {
    form.params[p] += rounds * (last.params[p] - first.params[p]);
  }
  form.constant += rounds * (last.constant - first.constant + 1);
  return form;
}

// `labels` beyond the ends of a ring, by how often it leads round to where they
// take their values from. False if that is oftener than anybody means.
bool Analysis::RoundTheRing(const CheckedBoundary& boundary,
                            const std::pair<LinearForm, LinearForm>& range,
                            const isl::set& labels,
                            std::vector<RingPart>& parts) const {
  const int32_t array = boundary.ref.array;
  const int index = boundary.periodic_index;
  for (const bool is_below : {true, false}) {
    const LinearForm& end = is_below ? range.first : range.second;
    const int64_t sign = is_below ? 1 : -1;
    isl::set rest = labels.intersect(sets_.Beyond(array, index, end, is_below));
    for (int64_t rounds = 1; !rest.is_empty(); ++rounds) {
      if (rounds > kRoundsMax) return false;
      RingPart part{.labels = rest,
                    .source = boundary.ref,
                    .is_below = is_below,
                    .rounds = rounds};
      const isl::set further = sets_.Beyond(
          array, index, Shifted(end, range, -sign * rounds), is_below);
      rest = rest.intersect(further);
      if (!rest.is_empty()) part.labels = part.labels.subtract(further);
      LinearForm& source = part.source.index[static_cast<size_t>(index)];
      source = Shifted(source, range, sign * rounds);
      parts.push_back(std::move(part));
    }
  }
  return true;
}

// Labels that periodic boundaries are going to read, by array: as in Periodic,
// before plain boundaries are tasks.
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
    const isl::set labels =
        read_[a].unite(wanted_[a]).unite(out[a]).subtract(taken[a]);
    std::vector<RingPart> parts;
    RoundTheRing(boundary, *range, labels, parts);
    for (const RingPart& part : parts) {
      const isl::map form = FormOf(boundary).intersect_range(part.labels);
      out[a] = out[a].unite(sets_.RefMap("F", boundary.free.size(), part.source)
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
  // The form of a label that is wanted where a loop ends, and read nowhere,
  // does not tell rounds apart; numbers do.
  if (symbolic_ && !TimeOf(task.domain, program_)) return !Fails();
  program_.tasks.push_back(std::move(task));
  AddTask(static_cast<int32_t>(program_.tasks.size()) - 1);
  return true;
}

// Labels beyond an end of the created ones take their value from one period
// further in, or more where the ring is shorter than that: a task for each
// number of periods.
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
  std::vector<RingPart> all;
  std::vector<RingPart> parts;
  const isl::set labels = read_[a].unite(wanted_[a]);
  const bool is_short =
      !RoundTheRing(boundary, *range, labels, all) ||
      !RoundTheRing(boundary, *range, labels.subtract(created_[a]), parts);
  if (is_short && Fails()) {
    diagnostics_
        .Error(Code::kBoundary, boundary.range,
               absl::StrCat("labels are read or wanted that are more than ",
                            kRoundsMax, " times round this ring"))
        .Help("widen the range of what tasks create along it");
  }
  bool is_read = false;
  for (const RingPart& part : parts) {
    CheckedTask task = BoundaryTask(boundary);
    absl::StrAppend(&task.name, part.is_below ? " below" : " above",
                    part.rounds > 1 ? absl::StrCat(" ", part.rounds) : "");
    task.uses.push_back(
        {.ref = part.source, .name = "inside", .guard = {}, .else_value = {}});
    ast::Expr& value = task.code.front().value;
    value.kind = ast::Expr::Kind::kName;
    value.text = "inside";
    value.type = TypeOf(program_.arrays[a].element);
    value.name_kind = ast::NameKind::kUse;
    value.index = 0;
    is_read |= AddBoundaryTask(boundary, part.labels, std::move(task));
  }
  if (!is_read && Fails()) {
    diagnostics_.Warning(Code::kBoundary, boundary.range,
                         !all.empty()
                             ? "other boundaries create all that is read or "
                               "wanted beyond the ends"
                             : "nothing reads or wants a label beyond the "
                               "ends");
  } else {
    WarnOfHole(boundary, all);
  }
}

// A plain boundary of a number along a ring that takes labels beyond its ends.
void Analysis::WarnOfHole(const CheckedBoundary& ring,
                          const std::vector<RingPart>& parts) {
  const auto index = static_cast<size_t>(ring.periodic_index);
  for (const CheckedBoundary& other : program_.boundaries) {
    if (other.periodic_free >= 0 || other.ref.array != ring.ref.array) continue;
    if (HasDimensions(other.ref.index[index])) continue;
    for (const RingPart& part : parts) {
      const isl::set taken = FormOf(ring).range().intersect(
          FormOf(other).range().intersect(part.labels));
      if (taken.is_empty() || !Fails()) continue;
      diagnostics_
          .Warning(
              Code::kBoundary, ring.range,
              absl::StrCat(
                  other.name, ", on line ",
                  diagnostics_.LineAndColumn(other.range.begin).first,
                  ", is a hole in this ring, at ",
                  program_.arrays[static_cast<size_t>(ring.ref.array)].name,
                  ToIndex(FirstPoint(taken)).ToString()))
          .Help("beyond its ends a ring goes on: leave that boundary out");
      break;
    }
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

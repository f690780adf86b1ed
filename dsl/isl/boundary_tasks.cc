#include "dsl/isl/boundary_tasks.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/check/repeat.h"
#include "dsl/isl/boundary_forms.h"
#include "dsl/isl/boundary_warnings.h"

namespace dogged::dsl {
namespace {

// Labels that periodic boundaries are going to read, by array: as in Periodic,
// before plain boundaries are tasks.
std::vector<isl::set> PeriodicSources(const Proof& proof) {
  std::vector<isl::set> taken = proof.created;
  for (const CheckedBoundary& boundary : proof.program.boundaries) {
    if (boundary.periodic_free >= 0) continue;
    isl::set& set = taken[boundary.ref.array];
    set = set.unite(FormOf(boundary, proof.sets).range());
  }
  std::vector<isl::set> out;
  for (size_t a = 0; a < proof.created.size(); ++a) {
    out.push_back(proof.sets.NoLabel(static_cast<int32_t>(a)));
  }
  for (const CheckedBoundary& boundary : proof.program.boundaries) {
    const int64_t a = boundary.ref.array;
    if (boundary.periodic_free < 0) continue;
    const auto range =
        proof.sets.RangeOf(proof.created[a], boundary.periodic_index);
    if (!range) continue;  // Periodic says so
    const isl::set labels =
        proof.read[a].unite(proof.wanted[a]).unite(out[a]).subtract(taken[a]);
    std::vector<RingPart> parts;
    SplitRing(boundary, *range, labels, proof.sets, parts);
    for (const RingPart& part : parts) {
      const isl::map form =
          FormOf(boundary, proof.sets).intersect_range(part.labels);
      out[a] =
          out[a].unite(proof.sets.RefMap("F", boundary.free.size(), part.source)
                           .intersect_domain(form.domain())
                           .range());
      taken[a] = taken[a].unite(form.range());
    }
  }
  return out;
}

// Without its domain; the value it sets is yet to come.
CheckedTask BoundaryTask(const Proof& proof, const CheckedBoundary& boundary) {
  const std::string& name = proof.program.arrays[boundary.ref.array].name;
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
bool AddTaskFor(Proof& proof, const CheckedBoundary& boundary,
                const isl::set& labels, CheckedTask task) {
  const isl::set points =
      FormOf(boundary, proof.sets).intersect_range(labels).domain();
  if (points.is_empty()) return false;
  const auto domain = proof.sets.DomainOf(points, boundary.free);
  if (!domain) {
    if (proof.Fails()) {
      proof.diagnostics
          .Error(Code::kBoundary, boundary.range,
                 "the labels of this boundary have no simple range")
          .Help("write a task that creates them");
    }
    return true;
  }
  task.domain = *domain;
  // The form of a label that is wanted where a loop ends, and read nowhere,
  // does not tell rounds apart; numbers do.
  if (proof.is_symbolic && !TimeOf(task.domain, proof.program))
    return !proof.Fails();
  proof.program.tasks.push_back(std::move(task));
  proof.AddTask(static_cast<int32_t>(proof.program.tasks.size()) - 1);
  return true;
}

// Labels beyond an end of the created ones take their value from one period
// further in, or more where the ring is shorter than that: a task for each
// number of periods.
void AddPeriodicTasks(Proof& proof, const CheckedBoundary& boundary,
                      const isl::set& created) {
  const int64_t a = boundary.ref.array;
  const auto range = proof.sets.RangeOf(created, boundary.periodic_index);
  if (!range) {
    if (proof.Fails()) {
      proof.diagnostics
          .Error(Code::kBoundary, boundary.range,
                 "what tasks create has no simple range along this index")
          .Help("a periodic index needs a first and a last value");
    }
    return;
  }
  std::vector<RingPart> all;
  std::vector<RingPart> parts;
  const isl::set labels = proof.read[a].unite(proof.wanted[a]);
  const bool is_short =
      !SplitRing(boundary, *range, labels, proof.sets, all) ||
      !SplitRing(boundary, *range, labels.subtract(proof.created[a]),
                 proof.sets, parts);
  if (is_short && proof.Fails()) {
    proof.diagnostics
        .Error(Code::kBoundary, boundary.range,
               absl::StrCat("labels are read or wanted that are more than ",
                            kRoundsMax, " times round this ring"))
        .Help("widen the range of what tasks create along it");
  }
  bool is_read = false;
  for (const RingPart& part : parts) {
    CheckedTask task = BoundaryTask(proof, boundary);
    absl::StrAppend(&task.name, part.is_below ? " below" : " above",
                    part.rounds > 1 ? absl::StrCat(" ", part.rounds) : "");
    task.uses.push_back(
        {.ref = part.source, .name = "inside", .guard = {}, .else_value = {}});
    ast::Expr& value = task.code.front().value;
    value.kind = ast::Expr::Kind::kName;
    value.text = "inside";
    value.type = TypeOf(proof.program.arrays[a].element);
    value.name_kind = ast::NameKind::kUse;
    value.index = 0;
    is_read |= AddTaskFor(proof, boundary, part.labels, std::move(task));
  }
  if (!is_read && proof.Fails()) {
    proof.diagnostics.Warning(
        Code::kBoundary, boundary.range,
        !all.empty() ? "other boundaries create all that is read or "
                       "wanted beyond the ends"
                     : "nothing reads or wants a label beyond the "
                       "ends");
  } else {
    WarnOfHole(proof, boundary, all);
  }
}

}  // namespace

// Makes a task of each boundary: its indices range over the labels that are
// read or wanted and that no task creates. Periodic boundaries then take the
// remaining labels, in their order: they read further labels, which may belong
// to other boundaries.
void AddBoundaryTasks(Proof& proof) {
  const std::vector<isl::set> created = proof.created;
  const std::vector<isl::set> sources = PeriodicSources(proof);
  for (const CheckedBoundary& boundary : proof.program.boundaries) {
    const int64_t a = boundary.ref.array;
    if (boundary.periodic_free >= 0) continue;
    const isl::set labels = proof.read[a]
                                .unite(proof.wanted[a])
                                .unite(sources[a])
                                .subtract(created[a]);
    CheckedTask task = BoundaryTask(proof, boundary);
    task.code.front().value = boundary.value;
    const isl::set needed =
        proof.read[a].unite(proof.wanted[a]).unite(sources[a]);
    if (AddTaskFor(proof, boundary, labels, std::move(task))) {
      WarnOfLost(proof, boundary, needed);
    } else if (proof.Fails()) {
      WarnOfIdle(proof, boundary, needed);
    }
  }
  for (const CheckedBoundary& boundary : proof.program.boundaries) {
    if (boundary.periodic_free < 0) continue;
    AddPeriodicTasks(proof, boundary, created[boundary.ref.array]);
  }
}

}  // namespace dogged::dsl

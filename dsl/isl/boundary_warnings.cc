#include "dsl/isl/boundary_warnings.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "dsl/isl/boundary_forms.h"
#include "dsl/isl/label_help.h"
#include "dsl/isl/point_text.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {
namespace {

// Where one form is of the other's edges they cross at a corner, which the task
// has: phi(x)(0) and a boundary phi(0)(t).
bool CrossAtCorner(const CheckedRef& boundary, const CheckedTask& task,
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

void ReportLost(Proof& proof, const CheckedBoundary& boundary,
                const CheckedTask& task, const isl::set& lost) {
  const isl::map form = FormOf(boundary, proof.sets);
  CheckedTask free;
  free.domain = FreeOf(boundary);
  const isl::set points = form.intersect_range(lost).domain();
  // The boundary's own points are all before or all behind these, in one index.
  const isl::set kept =
      proof.sets.Points("F", proof.program.tasks.back().domain)
          .subtract(points);
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
  proof.diagnostics
      .Warning(Code::kBoundary, boundary.range,
               absl::StrCat(
                   task.name, ", on line ",
                   proof.diagnostics.LineAndColumn(task.range.begin).first,
                   ", creates ", proof.program.arrays[boundary.ref.array].name,
                   ToIndex(FirstPoint(lost)).ToString(),
                   ", so this boundary does not hold there"))
      .Note(absl::StrCat("as", RangesText(free, points)))
      .Help(absl::StrCat(
          "shrink the range of ", task.name, ", or leave these to it here:  ",
          condition.empty() ? "where ..." : absl::StrCat("where ", condition)));
}

}  // namespace

void WarnOfIdle(Proof& proof, const CheckedBoundary& boundary,
                const isl::set& needed) {
  const isl::set mine = FormOf(boundary, proof.sets).range().intersect(needed);
  for (size_t k = 0; k < proof.tasks.size(); ++k) {
    const CheckedTask& task = proof.program.tasks[k];
    for (size_t c = 0; c < task.creates.size(); ++c) {
      if (task.creates[c].ref.array != boundary.ref.array) continue;
      if (proof.tasks[k].creates[c].range().intersect(mine).is_empty())
        continue;
      proof.diagnostics
          .Warning(Code::kBoundary, boundary.range,
                   "tasks create all of this that is read or wanted")
          .Note(absl::StrCat(
              "such as ", task.name, ", on line ",
              proof.diagnostics.LineAndColumn(task.range.begin).first))
          .Help(HelpWithOrder(proof, boundary.ref, FreeOf(boundary),
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
  const std::string& name = proof.program.arrays[boundary.ref.array].name;
  proof.diagnostics
      .Warning(Code::kBoundary, boundary.range, "nothing reads or wants this")
      .Help(HelpWithOrder(
          proof, boundary.ref, FreeOf(boundary),
          labels.empty() ? absl::StrCat("nothing reads ", name)
                         : absl::StrCat("what is read or wanted is within  ",
                                        name, labels)));
}

void WarnOfLost(Proof& proof, const CheckedBoundary& boundary,
                const isl::set& needed) {
  if (boundary.free.size() >= boundary.ref.index.size()) return;
  const isl::set mine = FormOf(boundary, proof.sets).range().intersect(needed);
  for (size_t k = 0; k < proof.tasks.size(); ++k) {
    const CheckedTask& task = proof.program.tasks[k];
    if (task.origin == CheckedTask::Origin::kBoundary) continue;
    for (size_t c = 0; c < task.creates.size(); ++c) {
      const CheckedRef& made = task.creates[c].ref;
      if (made.array != boundary.ref.array ||
          CrossAtCorner(boundary.ref, task, made)) {
        continue;
      }
      const isl::set lost = mine.intersect(proof.tasks[k].creates[c].range());
      if (lost.is_empty() || !proof.Fails()) continue;
      ReportLost(proof, boundary, task, lost);
      return;
    }
  }
}

void WarnOfHole(Proof& proof, const CheckedBoundary& ring,
                const std::vector<RingPart>& parts) {
  const int64_t index = ring.periodic_index;
  for (const CheckedBoundary& other : proof.program.boundaries) {
    if (other.periodic_free >= 0 || other.ref.array != ring.ref.array) continue;
    if (HasDimensions(other.ref.index[index])) continue;
    for (const RingPart& part : parts) {
      const isl::set taken =
          FormOf(ring, proof.sets)
              .range()
              .intersect(
                  FormOf(other, proof.sets).range().intersect(part.labels));
      if (taken.is_empty() || !proof.Fails()) continue;
      proof.diagnostics
          .Warning(Code::kBoundary, ring.range,
                   absl::StrCat(
                       other.name, ", on line ",
                       proof.diagnostics.LineAndColumn(other.range.begin).first,
                       ", is a hole in this ring, at ",
                       proof.program.arrays[ring.ref.array].name,
                       ToIndex(FirstPoint(taken)).ToString()))
          .Help("beyond its ends a ring goes on: leave that boundary out");
      break;
    }
  }
}

}  // namespace dogged::dsl

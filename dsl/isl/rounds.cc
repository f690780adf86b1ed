#include "dsl/isl/rounds.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "dsl/check/repeat.h"
#include "dsl/isl/point_text.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {
namespace {

bool ReadsLater(Proof& proof, size_t k, const CheckedRef& ref,
                const isl::map& reads);

void ReportLater(Proof& proof, size_t k, const CheckedRef& ref, size_t l,
                 const isl::map& late) {
  const CheckedTask& task = proof.program.tasks[k];
  const CheckedTask& maker = proof.program.tasks[l];
  const CheckedRepeat& repeat = *proof.program.repeat;
  const auto [point, made] = FirstOf(late, task);
  const int64_t time =
      TimeOf(task.domain, proof.program)->Evaluate(ToIndex(point));
  const int64_t steps =
      std::max<int64_t>(0, CeilDiv(time - repeat.first, repeat.step));
  const std::string& parameter =
      proof.program.parameters[repeat.parameter].name;
  std::string label;
  for (const CheckedCreate& create : maker.creates) {
    if (create.ref.array == ref.array)
      label = LabelText(proof.program, create.ref, made);
  }
  proof.diagnostics
      .Error(Code::kRepeat, ref.range,
             absl::StrCat("if the loop ends at ", parameter, " = ",
                          repeat.first + steps * repeat.step,
                          ", nothing makes ", label, ", which ", task.name,
                          " needs", PointText(task, point)))
      .Help(absl::StrCat("read what the first round makes, or let ", parameter,
                         " begin later"));
}

// The same for pairs of a reader and a maker, a point of class l.
bool IsMadeLater(Proof& proof, size_t k, const CheckedRef& ref, size_t l,
                 const isl::map& pairs) {
  const CheckedTask& maker = proof.program.tasks[l];
  if (maker.origin == CheckedTask::Origin::kBoundary) {
    for (const isl::map& uses : proof.tasks[l].uses) {
      if (ReadsLater(proof, k, ref, pairs.apply_range(uses))) return true;
    }
    return false;
  }
  if (!TimeOf(maker.domain, proof.program)) return false;
  const isl::map late = pairs.intersect(
      proof.sets.NotYet(static_cast<int32_t>(k), static_cast<int32_t>(l)));
  if (late.is_empty()) return false;
  if (proof.Fails()) ReportLater(proof, k, ref, l, late);
  return true;
}

// True, and said, if points of class k read labels that some round in which
// they run does not make. `reads` takes them to labels of `ref`'s array.
bool ReadsLater(Proof& proof, size_t k, const CheckedRef& ref,
                const isl::map& reads) {
  for (size_t l = 0; l < proof.tasks.size(); ++l) {
    const CheckedTask& maker = proof.program.tasks[l];
    for (size_t c = 0; c < maker.creates.size(); ++c) {
      if (maker.creates[c].ref.array != ref.array) continue;
      const isl::map pairs =
          reads.apply_range(proof.tasks[l].creates[c].reverse());
      if (!pairs.is_empty() && IsMadeLater(proof, k, ref, l, pairs))
        return true;
    }
  }
  return false;
}

}  // namespace

// A proof with symbols is one for every round; numbers are those of the last
// round, and say nothing of earlier ones. Boundaries are no tasks of their own
// here: they are run when a task reads them.
void CheckRounds(Proof& proof) {
  if (!proof.program.repeat || proof.is_symbolic) return;
  for (size_t k = 0; k < proof.tasks.size(); ++k) {
    const CheckedTask& task = proof.program.tasks[k];
    if (task.origin == CheckedTask::Origin::kBoundary) continue;
    if (!TimeOf(task.domain, proof.program)) continue;  // lowering says so
    for (size_t u = 0; u < task.uses.size(); ++u) {
      if (ReadsLater(proof, k, task.uses[u].ref, proof.tasks[k].uses[u])) break;
    }
  }
}

}  // namespace dogged::dsl

#include "dsl/isl/declared_ranges.h"

#include <isl/set.h>

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "dsl/isl/label_help.h"
#include "dsl/isl/point_text.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {
namespace {

std::string ChangeRange() {
  return "change the range of the index, or that of the array";
}

void InRange(Proof& proof, const CheckedTask& task, const isl::map& map,
             const CheckedRef& ref, absl::string_view verb,
             absl::FunctionRef<std::string()> help) {
  const auto& declared = proof.sets.Declared(ref.array);
  if (!declared) return;
  isl_set* allowed = declared->copy();
  // Beyond the ends of a ring it is read, and never created or wanted.
  for (const CheckedBoundary& boundary : proof.program.boundaries) {
    if (boundary.ref.array != ref.array || boundary.periodic_free < 0) continue;
    if (verb != "reads") continue;
    allowed =
        isl_set_eliminate(allowed, isl_dim_set,
                          static_cast<unsigned>(boundary.periodic_index), 1);
  }
  const isl::set beyond = map.range().subtract(isl::manage(allowed));
  if (beyond.is_empty() || !proof.Fails()) return;
  const auto [point, label] = FirstOf(map.intersect_range(beyond), task);
  const CheckedArray& array = proof.program.arrays[ref.array];
  proof.diagnostics
      .Error(Code::kOutOfRange, ref.range,
             absl::StrCat(task.name, " ", verb, " ", array.name,
                          ToIndex(label).ToString(), PointText(task, point),
                          ", which is outside of its array"))
      .Note(absl::StrCat(
          array.name, " is declared on line ",
          proof.diagnostics.LineAndColumn(array.range.begin).first))
      .Help(help());
}

}  // namespace

void CheckDeclaredRanges(Proof& proof) {
  for (size_t k = 0; k < proof.tasks.size(); ++k) {
    const CheckedTask& task = proof.program.tasks[k];
    for (size_t c = 0; c < task.creates.size(); ++c) {
      InRange(proof, task, proof.tasks[k].creates[c], task.creates[c].ref,
              "creates", ChangeRange);
    }
    for (size_t u = 0; u < task.uses.size(); ++u) {
      InRange(
          proof, task, proof.tasks[k].uses[u], task.uses[u].ref, "reads",
          [&] { return HelpAhead(proof, task, task.uses[u], ChangeRange()); });
    }
  }
  for (const CheckedResult& result : proof.program.results) {
    CheckedTask wish;
    wish.name = "the result";
    wish.domain = result.domain;
    InRange(proof, wish,
            proof.sets.RefMap("R", result.domain.dimensions.size(), result.ref)
                .intersect_domain(proof.sets.Points("R", result.domain)),
            result.ref, "wants", ChangeRange);
  }
}

}  // namespace dogged::dsl

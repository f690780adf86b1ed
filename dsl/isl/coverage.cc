#include "dsl/isl/coverage.h"

#include <isl/set.h>

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "dsl/check/index_names.h"
#include "dsl/check/repeat.h"
#include "dsl/isl/gather_coverage.h"
#include "dsl/isl/label_help.h"
#include "dsl/isl/making_help.h"
#include "dsl/isl/point_text.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {
namespace {

// A way out where labels of `result` lack, `missing` of them. Within the ranges
// of all indices, the labels that there are may be a triangle.
std::string HelpWithResult(const Proof& proof, const CheckedResult& result,
                           const isl::set& missing) {
  const int64_t array = result.ref.array;
  const size_t rank = result.ref.index.size();
  bool is_within = rank > 1 && rank <= 5;
  for (size_t d = 0; is_within && d < rank; ++d) {
    is_within =
        ShadowOn(missing, static_cast<int>(d))
            .is_subset(ShadowOn(proof.created[array], static_cast<int>(d)));
  }
  if (!is_within) {
    return "shrink the range of the result, or widen that of a task";
  }
  std::string label = proof.program.arrays[array].name;
  for (size_t d = 0; d < rank; ++d) {
    absl::StrAppend(&label, "(", absl::string_view("ijklm").substr(d, 1), ")");
  }
  return absl::StrCat("if it is no box, name its indices, as in  result ",
                      label,
                      " for i = 0:9  j = 0:i;  or widen the range of a "
                      "task");
}

// Pieces of a set of missing labels that are reported one by one.
constexpr int kPiecesMax = 6;

std::string HelpWithRounds(const Proof& proof) {
  const CheckedRepeat& repeat = *proof.program.repeat;
  const CheckedParameter& parameter =
      proof.program.parameters[repeat.parameter];
  return absl::StrCat("the condition is asked at every  ", parameter.name,
                      " = ", repeat.first, ":", parameter.integer, ":",
                      repeat.step, ":  make what it reads at all of these");
}

// Names of the indices of `ref`: where it has a number, the name that a task
// which makes labels of the array gives to the index.
std::vector<std::string> NamesAt(const CheckedProgram& program,
                                 const CheckedRef& ref,
                                 const CheckedDomain& domain) {
  std::vector<std::string> out = IndexNames(program, ref, domain);
  const std::vector<std::string> made = IndexNames(program, ref.array);
  for (size_t i = 0; i < out.size(); ++i) {
    if (ref.index[i].IsNumber() && !absl::c_linear_search(out, made[i]))
      out[i] = made[i];
  }
  return out;
}

void ReportMissing(Proof& proof, int32_t array, const isl::set& piece) {
  const CheckedArray& made = proof.program.arrays[array];
  // Labels between the steps of a task are told by numbers.
  const auto stepped = SteppedOver(proof, array, piece);
  const auto text = [&](std::vector<std::string> names) {
    if (stepped) {
      const size_t i = stepped->index;
      names[i] = absl::StrCat(FirstPoint(piece)[i]);
    }
    return LabelsText(made.name, piece, names);
  };
  for (size_t k = 0; k < proof.tasks.size(); ++k) {
    const CheckedTask& task = proof.program.tasks[k];
    for (size_t u = 0; u < task.uses.size(); ++u) {
      const CheckedRef& ref = task.uses[u].ref;
      if (ref.array != array) continue;
      const isl::map reads = proof.tasks[k].uses[u].intersect_range(piece);
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
          NamesAt(proof.program, ref, over ? *over : task.domain);
      const std::string labels = text(names);
      proof.diagnostics
          .Error(Code::kNoProducer, ref.range,
                 absl::StrCat("no task creates ", labels, ", which ", task.name,
                              " needs", where))
          .Note(absl::StrCat("reaches ", made.name, ToIndex(label).ToString(),
                             PointText(task, first)))
          .Help(HelpWithOrder(
              proof, ref, over ? *over : task.domain,
              HelpAhead(
                  proof, task, task.uses[u],
                  HelpWithoutLabels(proof, array,
                                    task.name == kConditionTask
                                        ? HelpWithRounds(proof)
                                        : HelpToMake(proof, task, task.uses[u],
                                                     piece, names)))));
      return;
    }
  }
  for (const CheckedResult& result : proof.program.results) {
    if (result.ref.array != array) continue;
    proof.diagnostics
        .Error(Code::kNoProducer, result.range,
               absl::StrCat(
                   "no task creates ",
                   text(IndexNames(proof.program, result.ref, result.domain)),
                   ", which is a result"))
        .Note(absl::StrCat("such as ", proof.program.arrays[array].name,
                           ToIndex(FirstPoint(piece)).ToString()))
        .Help(HelpWithOrder(
            proof, result.ref, result.domain,
            HelpWithoutLabels(proof, array,
                              HelpWithResult(proof, result, piece))));
    return;
  }
}

}  // namespace

void CheckCoverage(Proof& proof) {
  for (size_t a = 0; a < proof.created.size(); ++a) {
    isl::set missing =
        proof.read[a].unite(proof.wanted[a]).subtract(proof.created[a]);
    if (missing.is_empty()) continue;
    if (!proof.Fails()) return;
    // What is read by tables is checked point by point.
    CheckGathers(proof, static_cast<int32_t>(a));
    const isl::set& exact = proof.read_by_forms[a];
    missing = missing.intersect(
        proof.diagnostics.HasErrors() ? exact : exact.unite(proof.wanted[a]));
    // A result's slice goes as far as labels are read: those come first, and
    // results after them alone.
    const isl::set read = missing.intersect(exact);
    int count = 0;
    Coalesced(isl::manage(isl_set_make_disjoint(
                  (read.is_empty() ? missing : read).copy())))
        .foreach_basic_set([&](const isl::basic_set& piece) {
          if (++count <= kPiecesMax) {
            ReportMissing(proof, static_cast<int32_t>(a), isl::set(piece));
          }
        });
  }
}

}  // namespace dogged::dsl

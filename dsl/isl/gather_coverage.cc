#include "dsl/isl/gather_coverage.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/isl/cycle_search.h"
#include "dsl/isl/point_text.h"
#include "dsl/text/print.h"
#include "runtime/graph/relations.h"

namespace dogged::dsl {
namespace {

// Tasks that are gone through, of one use: some seconds at worst.
constexpr int64_t kTasksMax = 20'000'000;

// Finds the first task of class `k` whose use `u` reads a label that no task
// creates. True if all were gone through, or one was found.
bool FindMissing(const Relations& relations, size_t k, size_t u,
                 std::optional<Task>& found) {
  const TaskClass& c = relations.program().classes[k];
  const Use& use = c.uses[u];
  int64_t left = kTasksMax;
  c.domain.ForEach([&](const IndexVector& index) {
    if (!use.guard.Holds(index)) return --left > 0;
    const Label label{.array = use.array, .index = use.IndexOf(index)};
    if (relations.ProducerOf(label).has_value()) return --left > 0;
    found = Task{.task_class = static_cast<int32_t>(k), .index = index};
    return false;
  });
  return left > 0;
}

// Text of the entries that are read from tables: "col(i)(0) is 7".
std::string EntriesText(const CheckedGather& gather, const IndexVector& index) {
  const Gather& tables = *gather.tables;
  const auto place = static_cast<size_t>(tables.PlaceOf(index));
  std::string out;
  for (size_t t = 0; t < tables.tables.size(); ++t) {
    absl::StrAppend(&out, out.empty() ? "" : ", ",
                    Print(gather.entries[t].value), " is ",
                    tables.tables[t].values[place]);
  }
  return out;
}

void Report(Proof& proof, const Relations& relations, const Task& task,
            const CheckedUse& use, size_t u) {
  const CheckedTask& reader = proof.program.tasks[task.task_class];
  const Use& in_graph = relations.ClassOf(task).uses[u];
  const CheckedArray& array = proof.program.arrays[use.ref.array];
  proof.diagnostics
      .Error(Code::kNoProducer, use.ref.range,
             absl::StrCat(
                 "no task creates ", array.name,
                 in_graph.IndexOf(task.index).ToString(), ", which ",
                 reader.name, " needs",
                 PointText(reader, {task.index.begin(), task.index.end()})))
      .Note(absl::StrCat(EntriesText(*use.gather, task.index), " there"))
      .Help(absl::StrCat(
          "give indices of labels that there are, or leave the point out:  ",
          Print(use.gather->entries.front().value),
          "  is counted as the program counts, from where ", array.name,
          " begins"));
}

}  // namespace

void CheckGathers(Proof& proof, int32_t array) {
  std::optional<Program> skeleton;
  std::optional<Relations> relations;
  for (size_t k = 0; k < proof.tasks.size(); ++k) {
    for (size_t u = 0; u < proof.tasks[k].uses.size(); ++u) {
      const CheckedUse& use = proof.program.tasks[k].uses[u];
      if (use.ref.array != array || !use.gather) continue;
      const isl::set read = proof.tasks[k].uses[u].range();
      if (read.is_subset(proof.created[array])) continue;
      if (!skeleton) {
        skeleton = Skeleton(proof.program);
        relations.emplace(*skeleton);
      }
      std::optional<Task> found;
      if (!FindMissing(*relations, k, u, found)) {
        proof.diagnostics
            .Error(Code::kNotProved, use.ref.range,
                   "that all labels exist which tables name could not be "
                   "proved: there are too many tasks")
            .Help(
                "an array that has all labels between the least and the "
                "greatest index needs no search");
      } else if (found) {
        Report(proof, *relations, *found, use, u);
      }
    }
  }
}

}  // namespace dogged::dsl

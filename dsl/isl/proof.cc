#include "dsl/isl/proof.h"

#include <isl/union_map.h>

#include <algorithm>
#include <utility>

#include "dsl/isl/set_queries.h"

namespace dogged::dsl {

Proof::Proof(CheckedProgram& checked, Diagnostics& reports,
             const IslContext& isl_context, bool with_symbols)
    : program(checked),
      diagnostics(reports),
      is_symbolic(with_symbols),
      sets(checked, isl_context, with_symbols) {
  for (size_t a = 0; a < program.arrays.size(); ++a) {
    created.push_back(sets.NoLabel(static_cast<int32_t>(a)));
  }
  read = created;
  read_by_forms = created;
  wanted = created;
  for (size_t k = 0; k < program.tasks.size(); ++k) {
    AddTask(static_cast<int32_t>(k));
  }
  for (isl::set& set : created) set = Coalesced(set);
  for (isl::set& set : read) set = Coalesced(set);
  for (isl::set& set : read_by_forms) set = Coalesced(set);
}

void Proof::AddTask(int32_t k) {
  const CheckedTask& task = program.tasks[k];
  TaskMaps maps{sets.TaskDomain(k), {}, {}};
  for (const CheckedCreate& create : task.creates) {
    maps.creates.push_back(sets.CreateMap(maps.domain, k, create));
    isl::set& labels = created[create.ref.array];
    labels = labels.unite(maps.creates.back().range());
  }
  for (const CheckedUse& use : task.uses) {
    maps.uses.push_back(sets.UseMap(maps.domain, k, use));
    isl::set& labels = read[use.ref.array];
    labels = labels.unite(maps.uses.back().range());
    if (use.gather) continue;
    isl::set& exact = read_by_forms[use.ref.array];
    exact = exact.unite(maps.uses.back().range());
  }
  tasks.push_back(std::move(maps));
}

isl::set Proof::KnownLabels(int32_t array) const {
  // What is read by tables alone is there where a boundary makes it.
  const bool has_boundary = std::any_of(
      program.boundaries.begin(), program.boundaries.end(),
      [array](const CheckedBoundary& b) { return b.ref.array == array; });
  return created[array].unite(has_boundary ? read[array]
                                           : read_by_forms[array]);
}

isl::set Proof::Inside(int32_t array, isl::set labels) const {
  for (const CheckedBoundary& boundary : program.boundaries) {
    if (boundary.ref.array != array || boundary.periodic_free < 0) continue;
    std::vector<bool> along(boundary.ref.index.size(), false);
    along[boundary.periodic_index] = true;
    labels = labels.intersect(sets.BoxHull(created[array], along));
  }
  return labels;
}

isl::set Proof::WholeArray(int32_t array,
                           const std::vector<bool>& is_slice) const {
  const auto& declared = sets.Declared(array);
  if (declared) return *declared;
  return sets.BoxHull(Inside(array, KnownLabels(array)), is_slice);
}

isl::union_map Proof::Requires() const {
  isl::union_map out = isl::manage(
      isl_union_map_empty(isl_set_get_space(tasks[0].domain.get())));
  for (size_t k = 0; k < tasks.size(); ++k) {
    for (size_t u = 0; u < tasks[k].uses.size(); ++u) {
      const int32_t array = program.tasks[k].uses[u].ref.array;
      for (size_t l = 0; l < tasks.size(); ++l) {
        for (size_t c = 0; c < tasks[l].creates.size(); ++c) {
          if (program.tasks[l].creates[c].ref.array != array) continue;
          out = out.unite(isl::union_map(
              tasks[k].uses[u].apply_range(tasks[l].creates[c].reverse())));
        }
      }
    }
  }
  return out;
}

}  // namespace dogged::dsl

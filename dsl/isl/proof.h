// Proof: one try to prove a program, with its parameters as symbols or as
// numbers: its tasks and labels as sets, which the passes read and extend, and
// whether all of them held so far. Constant after construction: `diagnostics`
// and `is_symbolic`. AddTask() keeps `tasks`, `created` and `read` in step with
// the tasks of `program`.
#ifndef DOGGED_DSL_ISL_PROOF_H_
#define DOGGED_DSL_ISL_PROOF_H_

#include <isl/cpp.h>

#include <cstdint>
#include <vector>

#include "dsl/check/checked.h"
#include "dsl/isl/isl_sets.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

struct TaskMaps {
  isl::set domain;
  std::vector<isl::map> creates;  // to labels
  std::vector<isl::map> uses;
};

struct Proof {
  Proof(CheckedProgram& checked, Diagnostics& reports,
        const IslContext& isl_context, bool with_symbols);

  // Takes in class k, the next one of the program.
  void AddTask(int32_t k);

  // Labels of an array that tasks create, or read.
  isl::set KnownLabels(int32_t array) const;
  // `labels` less those beyond the ends of a ring, which only neighbours read.
  isl::set Inside(int32_t array, isl::set labels) const;
  // The labels that ":" stands for at the indices where `is_slice`: the
  // declared range, or that of all known labels, less those beyond a ring.
  isl::set WholeArray(int32_t array, const std::vector<bool>& is_slice) const;
  // Tasks to the tasks that create the labels they use.
  isl::union_map Requires() const;

  isl::ctx context() const { return sets.context(); }

  // Notes a failed proof: true if it should be reported now. With symbols a
  // proof that fails says nothing: numbers decide.
  bool Fails() {
    is_good = false;
    return !is_symbolic;
  }
  bool HasErrors() const { return !is_good || diagnostics.HasErrors(); }

  CheckedProgram& program;
  Diagnostics& diagnostics;
  const bool is_symbolic;
  bool is_good = true;
  IslSets sets;
  std::vector<TaskMaps> tasks;    // by class
  std::vector<isl::set> created;  // by array
  std::vector<isl::set> read;
  // Likewise, without what is read by tables, of which `read` may have more.
  std::vector<isl::set> read_by_forms;
  std::vector<isl::set> wanted;
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_PROOF_H_

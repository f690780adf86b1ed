// Search for a cycle among concrete tasks, for programs without a schedule.
// Bounded, so it may end without an answer.
#ifndef DOGGED_DSL_ISL_CYCLE_SEARCH_H_
#define DOGGED_DSL_ISL_CYCLE_SEARCH_H_

#include <cstdint>
#include <vector>

#include "dsl/check/checked.h"
#include "runtime/graph/program.h"
#include "runtime/graph/task.h"

namespace dogged::dsl {

struct CycleSearch {
  // True if every task was seen, so that an empty cycle means there is none.
  bool is_complete = false;
  // Each task requires a label of the next, the last one of the first,
  // which is the least of them.
  std::vector<Task> cycle;
};

// Every label of `program`, which is analysed up to here, has one producer.
// A few tries visit at most `tasks_max` tasks of each class, and of all classes
// a few times that.
CycleSearch FindCycle(const CheckedProgram& program, int64_t tasks_max);

// The description as a graph::Program without kernels and results.
Program Skeleton(const CheckedProgram& program);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_CYCLE_SEARCH_H_

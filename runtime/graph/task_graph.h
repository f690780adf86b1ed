// TaskGraph: a program as the graph of tasks that [MC] programs against, its
// four routines answered from Relations; nothing is stored, nothing unrolled.
// Immutable, thread-safe; the relations must outlive it.
//
// Source: [MC] slides, "Simple Programming Model": get_children,
// get_num_parents, set_entry_task, set_exit_task. Differs: the user does not
// write them, they follow from the dependency description; entry and exit are
// all tasks of their kind, asked for and not set.
#ifndef DOGGED_RUNTIME_GRAPH_TASK_GRAPH_H_
#define DOGGED_RUNTIME_GRAPH_TASK_GRAPH_H_

#include "absl/functional/function_ref.h"
#include "runtime/graph/relations.h"
#include "runtime/graph/task.h"

namespace dogged {

class TaskGraph {
 public:
  using Visitor = absl::FunctionRef<bool(const Task& task)>;

  explicit TaskGraph(const Relations& relations) : relations_(relations) {}

  // Calls `visit` for each task that requires something `task` creates, until
  // it returns false; then returns false itself. A task that requires two
  // things is visited twice. ([MC]: get_children)
  bool ForEachChild(const Task& task, Visitor visit) const;
  // Number of labels that `task` requires, with repetition. A parent may create
  // several of them. ([MC]: get_num_parents)
  int ParentCount(const Task& task) const;
  // Calls `visit` for each task that requires nothing, class by class, in
  // lexicographic order, until it returns false; then returns false itself.
  // Looks at each task of classes whose requirements have guards.
  bool ForEachEntry(Visitor visit) const;
  // Likewise for tasks that create a result; a task that creates several is
  // visited for the first of them only.
  bool ForEachExit(Visitor visit) const;

 private:
  const Relations& relations_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_TASK_GRAPH_H_

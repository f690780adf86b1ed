#include "runtime/graph/task_graph.h"

#include <algorithm>
#include <optional>

namespace dogged {

bool TaskGraph::ForEachChild(const Task& task, Visitor visit) const {
  bool goes_on = true;
  relations_.ForEachCreated(task, [&](int, const Label& label) {
    if (!goes_on) return;
    goes_on = relations_.ForEachConsumer(
        label, [&](const Task& child, int) { return visit(child); });
  });
  return goes_on;
}

int TaskGraph::ParentCount(const Task& task) const {
  return relations_.RequiredCount(task);
}

bool TaskGraph::ForEachEntry(Visitor visit) const {
  const Program& program = relations_.program();
  for (size_t k = 0; k < program.classes.size(); ++k) {
    const TaskClass& task_class = program.classes[k];
    const bool always_requires =
        std::any_of(task_class.uses.begin(), task_class.uses.end(),
                    [](const Use& use) { return use.guard.IsAlways(); });
    if (always_requires) continue;
    const bool goes_on =
        task_class.domain.ForEach([&](const IndexVector& index) {
          const Task task{static_cast<int32_t>(k), index};
          return ParentCount(task) > 0 || visit(task);
        });
    if (!goes_on) return false;
  }
  return true;
}

bool TaskGraph::ForEachExit(Visitor visit) const {
  return relations_.ForEachResult([&](const Label& result) {
    const std::optional<Task> task = relations_.ProducerOf(result);
    if (!task.has_value()) return true;
    std::optional<Label> first;
    relations_.ForEachCreated(*task, [&](int, const Label& label) {
      if (!first.has_value() && relations_.IsResult(label)) first = label;
    });
    return first != result || visit(*task);
  });
}

}  // namespace dogged

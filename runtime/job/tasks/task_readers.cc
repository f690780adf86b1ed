#include "runtime/job/tasks/task_readers.h"

namespace dogged {

bool TaskReaders::Tell(const Label& label, const Value& value, bool asks,
                       Visit visit) {
  bool lacks = false;
  job_.relations.ForEachConsumer(label, [&](const Task& task, int use) {
    const bool is_demanded = tasks_.IsDemanded(task);
    const bool is_here = labels_.places.IsMine(task);
    if (!is_demanded && !is_here) return true;
    const bool is_done = !is_demanded && tasks_.IsDone(task);
    visit(task, is_here, is_done);
    // After the end tasks run for demands alone. An agent that takes over
    // results that are kept has never heard which of their readers are done.
    const bool is_pushed = job_.forward && job_.goal.is_demanded;
    if (is_done || (!is_pushed && !is_demanded)) return true;
    if (!value.IsNone()) {
      tasks_.MarkInput(task, use, value);
    } else if (asks && !lacks) {
      lacks = tasks_.IsMissing(task, use);
    }
    return true;
  });
  return lacks;
}

void TaskReaders::Give(const Reader& reader, const Label& label,
                       const Value& value) {
  const Task task = Task::Of(reader);
  if (!tasks_.IsDemanded(task)) return;
  job_.relations.ForEachRequired(task, [&](int use, const Label& required) {
    if (required == label) tasks_.MarkInput(task, use, value);
  });
}

}  // namespace dogged

#include "runtime/job/task_producers.h"

#include <optional>

namespace dogged {

void TaskProducers::NoteMade(const Label& label) {
  if (tasks_.claims().size() == 0) return;
  const std::optional<Task> producer = job_.relations.ProducerOf(label);
  if (producer.has_value()) tasks_.claims().Release(*producer);
}

void TaskProducers::NoteBound(const Label& label, const Value& value,
                              int64_t new_versions) {
  NoteValue(label, value);
  const std::optional<Task> producer = job_.relations.ProducerOf(label);
  if (producer.has_value() && job_.relations.FirstCreated(*producer) == label) {
    job_.stats.tasks_done += new_versions;
    tasks_.DropTask(*producer);  // it may have run elsewhere
  }
  if (new_versions > 0 && job_.goal.rounds.IsResult(label))
    ++job_.stats.results_bound;
}

bool TaskProducers::IsLacked(const Label& label) const {
  const auto needs_nothing = [&](const Task& task, int use) {
    if (!tasks_.IsDemanded(task) &&
        (!labels_.places.IsMine(task) || tasks_.IsDone(task)))
      return true;
    return !tasks_.IsMissing(task, use);
  };
  return !job_.relations.ForEachConsumer(label, needs_nothing);
}

}  // namespace dogged

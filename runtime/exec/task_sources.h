// TaskSources: ready tasks that nobody has listed yet. The leaves of a program,
// and the consumers of a label that has very many: both are drawn a few at a
// time, by the worker that will run them, so that neither needs memory for
// tasks that are not about to run. Thread-safe.
#ifndef DOGGED_RUNTIME_EXEC_TASK_SOURCES_H_
#define DOGGED_RUNTIME_EXEC_TASK_SOURCES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/base/value.h"
#include "runtime/exec/activation_table.h"
#include "runtime/exec/leaves.h"
#include "runtime/exec/needed.h"
#include "runtime/exec/spin_lock.h"
#include "runtime/graph/relations.h"

namespace dogged {

// Tasks that a worker has drawn and not yet run: `count` tasks from `task` on,
// along one index.
struct TaskBatch {
  int64_t count = 0;
  Task task;
  int along = -1;
  int use = -1;  // of the label that `value` is bound to; -1: leaves, perhaps
  Value value;

  bool IsEmpty() const { return count == 0; }
  Task Take() {
    Task out = task;
    --count;
    if (count > 0) ++task.index[along];
    return out;
  }
  // True if `record`, of a task with one use, would do for the next task too.
  bool IsFor(const Activation& record) const {
    return use == 0 && record.task.task_class == task.task_class &&
           record.inputs[0].IsSameBlock(value);
  }
};

class TaskSources {
 public:
  // Both must outlive this. In a program that repeats, leaves beyond the time
  // `until` wait for AddLeaves().
  TaskSources(const Relations& relations, const NeededTasks& needed,
              int64_t until = INT64_MAX);

  // Leaves after one time and until another may start too.
  void AddLeaves(int64_t after, int64_t until);
  // The consumers that `cursor` has not given out wait here for `value`.
  void AddConsumers(ConsumerCursor cursor, const Value& value);
  // Replaces `batch`, which is empty, by up to `max` tasks; false if there are
  // none. The newest label's consumers first.
  bool DrawConsumers(int64_t max, TaskBatch& batch);
  bool DrawLeaves(int64_t max, TaskBatch& batch);
  // Whether `task` of a batch is to be run at all.
  bool IsWanted(const TaskBatch& batch, const Task& task) const {
    return needed_.Contains(task) &&
           (batch.use >= 0 || relations_.RequiredCount(task) == 0);
  }

  // Sequentially consistent; may turn false only after one draw more.
  bool HasConsumers() const { return consumer_sources_.load() > 0; }
  bool HasLeaves() const { return leaves_left_.load(); }

 private:
  struct Consumers {
    ConsumerCursor cursor;
    Value value;
  };

  const Relations& relations_;
  const NeededTasks& needed_;
  SpinLock lock_;
  std::deque<LeafCursor> leaves_;  // the first is drawn from
  std::vector<std::unique_ptr<Consumers>> consumers_;  // newest last
  std::atomic<int> consumer_sources_{0};
  std::atomic<bool> leaves_left_{true};
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_TASK_SOURCES_H_

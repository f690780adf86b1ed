// TaskReaders: what the dictionary asks of the readers of labels, answered from
// the tasks of a job and its goal.
#ifndef DOGGED_RUNTIME_JOB_TASKS_TASK_READERS_H_
#define DOGGED_RUNTIME_JOB_TASKS_TASK_READERS_H_

#include "kvstore/dictionary/label_readers.h"
#include "kvstore/dictionary/label_table.h"
#include "runtime/base/label.h"
#include "runtime/base/reader.h"
#include "runtime/base/value.h"
#include "runtime/job/context/job_context.h"
#include "runtime/job/tasks/task_table.h"

namespace dogged {

class TaskReaders : public LabelReaders {
 public:
  // All outlive this.
  TaskReaders(const JobContext& job, const LabelTable& labels, TaskTable& tasks)
      : job_(job), labels_(labels), tasks_(tasks) {}

  bool IsResult(const Label& label) const override {
    return job_.goal.rounds.IsResult(label);
  }
  bool AreResultsDemanded() const override { return job_.goal.is_demanded; }
  bool Tell(const Label& label, const Value& value, bool asks,
            Visit visit) override;
  void Give(const Reader& reader, const Label& label,
            const Value& value) override;

 private:
  const JobContext& job_;
  const LabelTable& labels_;
  TaskTable& tasks_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_TASKS_TASK_READERS_H_

// TaskProducers: what replication asks of what makes labels and waits for them,
// answered from the tasks of a job, its goal, and the results that are wanted.
#ifndef DOGGED_RUNTIME_JOB_TASK_PRODUCERS_H_
#define DOGGED_RUNTIME_JOB_TASK_PRODUCERS_H_

#include "absl/time/time.h"
#include "kvstore/dictionary/label_table.h"
#include "kvstore/replication/label_producers.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/job/context/job_context.h"
#include "runtime/job/search/results.h"
#include "runtime/job/tasks/task_table.h"

namespace dogged {

class TaskProducers : public LabelProducers {
 public:
  // All outlive this.
  TaskProducers(JobContext& job, const LabelTable& labels, TaskTable& tasks,
                Results& results)
      : job_(job), labels_(labels), tasks_(tasks), results_(results) {}

  void NoteValue(const Label& label, const Value& value) override {
    job_.goal.has_news |= job_.goal.rounds.Note(label, value);
  }
  void NoteMade(const Label& label) override;
  void NoteBound(const Label& label, const Value& value,
                 int64_t new_versions) override;
  void NoteHolder(const Label& label, AgentId from) override {
    tasks_.CountIfLate(label, from);
  }
  void NoteProgress(absl::Time now) override { job_.stall.NoteProgress(now); }

  bool IsRequested(const Label& label) const override {
    return results_.IsRequested(label);
  }
  void HandOut(const Label& label, const Value& value) override {
    results_.HandOutIfRequested(label, value);
  }
  // The condition of a loop says whether it goes on.
  bool IsAwaitedByAll(const Label& label) const override {
    return job_.goal.rounds.IsCondition(label);
  }
  bool IsLacked(const Label& label) const override;

  bool IsBusy(absl::Time time) const override {
    return tasks_.HasInFlight() ||
           time < job_.stall.last_progress() + job_.limits.copies.delay;
  }
  bool IsThrough() const override {
    return !tasks_.HasInFlight() && results_.AreBoundHere();
  }
  bool IsLeaving() const override { return tasks_.IsPaused(); }
  absl::Duration DemandTimeout(absl::Time now) const override {
    return job_.times.DemandTimeout(now);
  }

 private:
  JobContext& job_;
  const LabelTable& labels_;
  TaskTable& tasks_;
  Results& results_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_TASK_PRODUCERS_H_

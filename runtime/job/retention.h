// Retention: decides how long a label is kept. Its consumers are told that it
// is bound, asked whether they are done, and crossed off; a label whose
// consumers' outputs are all durable is dropped, unless it is a retained
// generation. A wrong decision costs recomputation, never a wrong answer. See
// high_fanout.h for labels with many consumers.
#ifndef DOGGED_RUNTIME_JOB_RETENTION_H_
#define DOGGED_RUNTIME_JOB_RETENTION_H_

#include <cstdint>

#include "absl/container/btree_set.h"
#include "routing/transport/outbox.h"
#include "runtime/job/job_context.h"
#include "runtime/job/job_labels.h"
#include "runtime/job/job_storage.h"
#include "runtime/job/task_table.h"
#include "runtime/job/waiting.h"

namespace dogged {

class Retention {
 public:
  Retention(JobContext& job, JobLabels& labels, JobStorage& storage,
            TaskTable& tasks)
      : job_(job), labels_(labels), storage_(storage), tasks_(tasks) {}

  // Marks the input of consumers at home here, reports consumers that are done
  // to the label's home. If `value` is none it is demanded from `holder`, if
  // need be.
  void TellLocalConsumers(const Label& label, const Value& value,
                          AgentId holder, Outbox& out);
  // Homes, other than this agent, of consumers that are not known as done.
  absl::btree_set<AgentId> RemoteConsumerHomes(const Label& label,
                                               const LabelEntry& entry) const;
  // All consumers left have run here: copies of their outputs are enough.
  bool IsUsedUp(const Label& label, const LabelEntry& entry) const;
  // Has enough copies, as far as this agent knows.
  bool IsDurable(const Label& label, const LabelEntry& entry) const;
  // Tells the producer's inputs once its outputs here are durable.
  void ReportIfDurable(const Label& label, Outbox& out);
  void RetireIfUnneeded(const Label& label, Outbox& out);
  // Drops labels that are kept only as retained generations.
  void DropAllRetained(Outbox& out);
  void HandleDone(AgentId from, const DoneBody& body, Outbox& out);
  void CrossOffReported(Outbox& out);

 private:
  bool IsSettled(const Task& task) const;  // done here: its inputs are free
  void TellHighFanout(const Label& label, const Value& value, AgentId holder,
                      Outbox& out);
  void ReportDone(const Task& task, Outbox& out);
  void CountDown(const Label& label, int64_t uses, Outbox& out);
  void ConsumerDone(const Label& label, const Task& task, Outbox& out);
  void Drop(const Label& label, Outbox& out);

  JobContext& job_;
  JobLabels& labels_;
  JobStorage& storage_;
  TaskTable& tasks_;
  DoneReports done_reports_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_RETENTION_H_

// TaskGrants: idle agents run tasks of other homes (stealing.h). The home
// grants a task and sends the inputs that it has; the thief demands the rest,
// runs the task, and publishes its outputs to the home.
#ifndef DOGGED_RUNTIME_JOB_TASK_GRANTS_H_
#define DOGGED_RUNTIME_JOB_TASK_GRANTS_H_

#include <cstdint>

#include "kvstore/dictionary/label_table.h"
#include "kvstore/replication/value_sender.h"
#include "routing/transport/outbox.h"
#include "runtime/job/context/job_context.h"
#include "runtime/job/search/demands.h"
#include "runtime/job/storage/job_storage.h"
#include "runtime/job/tasks/task_table.h"

namespace dogged {

class TaskGrants {
 public:
  TaskGrants(JobContext& job, LabelTable& labels, JobStorage& storage,
             ValueSender& sender, TaskTable& tasks, Demands& demands)
      : job_(job),
        labels_(labels),
        storage_(storage),
        sender_(sender),
        tasks_(tasks),
        demands_(demands) {}

  // Grants tasks that wait here for workers to agents that have asked.
  void GrantTasks(const Pass& pass);
  // Tasks beyond the need of the workers that are worth making ready.
  int64_t RoomCount(absl::Time now);
  void AskForTasks(const Pass& pass);  // if this agent is idle
  void HandleSteal(absl::Time now, AgentId from, const StealBody& body);
  void HandleGrant(const Pass& pass, AgentId from, const ClaimBody& body);
  // A thief has the task still.
  void HandleClaim(absl::Time now, AgentId from, const ClaimBody& body);
  void SweepStealing(const Pass& pass);

 private:
  bool MayGrant(absl::Time now) const;
  absl::Duration TimeToMove(const Activation& record, AgentId thief) const;
  absl::Duration TimeToWait(absl::Time now) const;

  JobContext& job_;
  LabelTable& labels_;
  JobStorage& storage_;
  ValueSender& sender_;
  TaskTable& tasks_;
  Demands& demands_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_TASK_GRANTS_H_

// ViewChange: what a change of members means for a job: labels move as
// HomeChange has it, then tasks, and what was asked is asked again.
#ifndef DOGGED_RUNTIME_JOB_VIEW_CHANGE_H_
#define DOGGED_RUNTIME_JOB_VIEW_CHANGE_H_

#include "absl/time/time.h"
#include "kvstore/dictionary/label_table.h"
#include "kvstore/placement/placement.h"
#include "kvstore/replication/home_change.h"
#include "routing/transport/outbox.h"
#include "runtime/job/context/job_context.h"
#include "runtime/job/search/results.h"
#include "runtime/job/task_grants.h"
#include "runtime/job/tasks/task_table.h"

namespace dogged {

class ViewChange {
 public:
  struct Parts {
    HomeChange& homes;
    TaskTable& tasks;
    Results& results;
    TaskGrants& grants;
  };
  // All outlive this.
  ViewChange(JobContext& job, LabelTable& labels, const Parts& parts);

  void SetMembers(const Pass& pass, PlacementView view);
  void PeerStarted(const Pass& pass, AgentId peer);

 private:
  void AskAllAgain(absl::Time now);

  JobContext& job_;
  LabelTable& labels_;
  HomeChange& homes_;
  TaskTable& tasks_;
  Results& results_;
  TaskGrants& grants_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_VIEW_CHANGE_H_

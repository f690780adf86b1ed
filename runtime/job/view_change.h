// ViewChange: the effects of a change of members on a job: labels and tasks
// that move, hand-overs, and messages to a member that begins anew.
#ifndef DOGGED_RUNTIME_JOB_VIEW_CHANGE_H_
#define DOGGED_RUNTIME_JOB_VIEW_CHANGE_H_

#include "absl/functional/function_ref.h"
#include "kvstore/placement/placement.h"
#include "routing/transport/outbox.h"
#include "runtime/job/conflict_check.h"
#include "runtime/job/disk_offers.h"
#include "runtime/job/job_context.h"
#include "runtime/job/job_labels.h"
#include "runtime/job/replication.h"
#include "runtime/job/results.h"
#include "runtime/job/retention.h"
#include "runtime/job/task_grants.h"
#include "runtime/job/task_table.h"
#include "runtime/job/value_sender.h"

namespace dogged {

class ViewChange {
 public:
  struct Parts {
    ConflictCheck& conflicts;
    ValueSender& sender;
    TaskTable& tasks;
    Retention& retention;
    Results& results;
    DiskOffers& offers;
    Replication& replication;
    TaskGrants& grants;
  };
  ViewChange(JobContext& job, JobLabels& labels, const Parts& parts);

  void SetMembers(absl::Time now, PlacementView view, Outbox& out);
  void ExpectHandover(absl::Time now, AgentId leaver);
  void TellStart(Outbox& out);
  void PeerStarted(absl::Time now, AgentId peer, Outbox& out);
  // False: it is malformed.
  bool HandleWatermarks(absl::Time now, AgentId from,
                        const WatermarksBody& body);
  void SendHandoverComplete(Outbox& out);

 private:
  void ReviewHandovers(absl::Time now, const Placement& before, Outbox& out);
  void ReviewEntry(absl::Time now, const Label& label, const Placement& before,
                   Outbox& out);
  void PublishToNew(absl::Time now, const Label& label, const LabelEntry& entry,
                    const Placement& before, Outbox& out);
  void AskAllAgain(absl::Time now);
  // Tells the homes of rows that have `moved` how far they are.
  void HandOverWatermarks(absl::FunctionRef<bool(const Label& row)> moved,
                          Outbox& out);

  JobContext& job_;
  JobLabels& labels_;
  ConflictCheck& conflicts_;
  ValueSender& sender_;
  TaskTable& tasks_;
  Retention& retention_;
  Results& results_;
  DiskOffers& offers_;
  Replication& replication_;
  TaskGrants& grants_;
  bool has_told_start_ = false;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_VIEW_CHANGE_H_

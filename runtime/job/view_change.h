// ViewChange: what a change of members means for a job: which labels and tasks
// move, what is handed over, and what is said to a member that begins anew.
#ifndef DOGGED_RUNTIME_JOB_VIEW_CHANGE_H_
#define DOGGED_RUNTIME_JOB_VIEW_CHANGE_H_

#include "absl/functional/function_ref.h"
#include "kvstore/dictionary/conflict_check.h"
#include "kvstore/dictionary/label_table.h"
#include "kvstore/dictionary/retention.h"
#include "kvstore/placement/placement.h"
#include "kvstore/replication/replication.h"
#include "kvstore/replication/value_sender.h"
#include "kvstore/storage/disk_offers.h"
#include "routing/transport/outbox.h"
#include "runtime/job/context/job_context.h"
#include "runtime/job/search/results.h"
#include "runtime/job/task_grants.h"
#include "runtime/job/tasks/task_table.h"

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
  ViewChange(JobContext& job, LabelTable& labels, const Parts& parts);

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
  LabelTable& labels_;
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

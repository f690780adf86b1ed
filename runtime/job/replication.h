// Replication: binding labels, telling agents that need them, and copies. A
// label is bound at its home, which tells the homes of its consumers and sends
// copies to its replicas; holders repeat announcements until they are answered.
#ifndef DOGGED_RUNTIME_JOB_REPLICATION_H_
#define DOGGED_RUNTIME_JOB_REPLICATION_H_

#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"
#include "kvstore/replication/copy_queue.h"
#include "routing/transport/outbox.h"
#include "runtime/job/conflict_check.h"
#include "runtime/job/demands.h"
#include "runtime/job/disk_offers.h"
#include "runtime/job/job_context.h"
#include "runtime/job/job_labels.h"
#include "runtime/job/job_storage.h"
#include "runtime/job/results.h"
#include "runtime/job/retention.h"
#include "runtime/job/task_table.h"
#include "runtime/job/value_sender.h"

namespace dogged {

class Replication {
 public:
  // The components that it tells of bound labels; all outlive this.
  struct Parts {
    ConflictCheck& conflicts;
    JobStorage& storage;
    ValueSender& sender;
    TaskTable& tasks;
    Retention& retention;
    Results& results;
    DiskOffers& offers;
  };
  Replication(JobContext& job, JobLabels& labels, const Parts& parts);

  // A task that ran here has made it.
  void BindOutput(absl::Time now, const Label& label, const Value& value,
                  Outbox& out);
  void BecomeHome(const Label& label, LabelEntry& entry);
  void HandlePublish(absl::Time now, AgentId from, const PublishBody& body,
                     Outbox& out);
  void HandleAnnounce(absl::Time now, AgentId from, const AnnounceBody& body,
                      Outbox& out);
  void HandleStored(absl::Time now, AgentId from, const AnnounceBody& body,
                    Outbox& out);
  bool Lacks(absl::string_view announce) const;  // needs the bytes of that

  void AddMissingReplicas(const Label& label, const LabelEntry& entry,
                          absl::btree_set<AgentId>& targets) const;
  // Sent a little later, if it is not used up by then.
  void QueueCopies(absl::Time now, const Label& label);
  void SendCopies(absl::Time now, Outbox& out);
  void ScheduleAnnounce(absl::Time now, LabelEntry& entry);
  void Announce(absl::Time now, const Label& label, Outbox& out);

 private:
  void BindAtHome(absl::Time now, const Label& label, const Value& value,
                  AgentId from, Outbox& out);

  JobContext& job_;
  JobLabels& labels_;
  ConflictCheck& conflicts_;
  JobStorage& storage_;
  ValueSender& sender_;
  TaskTable& tasks_;
  Retention& retention_;
  Results& results_;
  DiskOffers& offers_;
  CopyQueue copy_queue_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_REPLICATION_H_

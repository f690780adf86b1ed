// Replication: binding labels, telling those who need them, and copies. A label
// is bound at its home, which tells the homes of its consumers and sends copies
// to its replicas; holders repeat what they hold until they are answered.
#ifndef DOGGED_RUNTIME_JOB_REPLICATION_H_
#define DOGGED_RUNTIME_JOB_REPLICATION_H_

#include <cstdint>
#include <functional>

#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"
#include "kvstore/replication/copy_queue.h"
#include "kvstore/replication/cut_queue.h"
#include "kvstore/replication/cut_schedule.h"
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
  // The components that it tells of what is bound; all outlive this.
  struct Parts {
    ConflictCheck& conflicts;
    JobStorage& storage;
    ValueSender& sender;
    TaskTable& tasks;
    Retention& retention;
    Results& results;
    DiskOffers& offers;
  };
  // `link_rate`: JobDependencies::link_rate.
  Replication(JobContext& job, JobLabels& labels, const Parts& parts,
              std::function<double(AgentId)> link_rate);

  // Homes have changed; `lost` of the former agents have died.
  void NoteMembers(absl::Time now, int64_t lost);

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
  // Sent a little later, or with the next cut, if it is not used up by then.
  void QueueCopies(absl::Time now, const Label& label);
  void SendCopies(absl::Time now, Outbox& out);
  void ScheduleAnnounce(absl::Time now, LabelEntry& entry);
  void Announce(absl::Time now, const Label& label, Outbox& out);

 private:
  void BindAtHome(absl::Time now, const Label& label, const Value& value,
                  AgentId from, Outbox& out);
  void LookAtLinks(absl::Time now);
  // Has no copy, and is spoken of from here on if nobody answers.
  void StopAwaiting(absl::Time now, LabelEntry& entry);
  bool JoinsCut(absl::Time now, const Label& label, int64_t& bytes);
  void SendCopyOf(absl::Time now, const Label& label, Outbox& out);
  void SendCut(absl::Time now, Outbox& out);

  JobContext& job_;
  JobLabels& labels_;
  ConflictCheck& conflicts_;
  JobStorage& storage_;
  ValueSender& sender_;
  TaskTable& tasks_;
  Retention& retention_;
  Results& results_;
  DiskOffers& offers_;
  const std::function<double(AgentId)> link_rate_;
  CopyQueue copy_queue_;  // copies that are loans, or short; results
  // Copies that are bytes: some agents are of other hosts.
  bool are_bytes_ = false;
  CutQueue cut_queue_;
  CutSchedule cuts_;
  absl::Time next_look_ = absl::InfinitePast();  // at links and at memory
  int64_t held_bytes_ = 0;                       // when looked at last
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_REPLICATION_H_

// DiskRecovery: values whose bytes are on disk: loaded for waiters, adopted
// after a restart or from a former incarnation, and lost.
#ifndef DOGGED_RUNTIME_JOB_DISK_RECOVERY_H_
#define DOGGED_RUNTIME_JOB_DISK_RECOVERY_H_

#include "absl/status/status.h"
#include "kvstore/dictionary.h"
#include "kvstore/storage/value_store.h"
#include "routing/transport/outbox.h"
#include "runtime/job/carried_over.h"
#include "runtime/job/context/job_context.h"
#include "runtime/job/search/demands.h"
#include "runtime/job/search/results.h"
#include "runtime/job/storage/job_storage.h"
#include "runtime/job/tasks/task_table.h"

namespace dogged {

class DiskRecovery {
 public:
  struct Parts {
    JobStorage& storage;
    TaskTable& tasks;
    Demands& demands;
    Results& results;
  };
  // All outlive this.
  DiskRecovery(JobContext& job, Dictionary& dictionary, const Parts& parts);

  void StartDiskScan();  // offers values of this job in the agent's directory
  void OnDisk(absl::Time now, const ValueStore::Event& event, Outbox& out);
  // Sends loaded values to their waiters, and values to be written to disk.
  void AdvanceStorage(absl::Time now, Outbox& out);
  CarriedOver TakeCarriedOver() const;  // for the next incarnation
  void AdoptCarriedOver(absl::Time now, const CarriedOver& carried,
                        Outbox& out);

 private:
  void Adopt(absl::Time now, const Label& label, const Value& value,
             bool is_on_disk, Outbox& out);
  void LoseValue(const Label& label, Outbox& out);
  void LoseDisk(const absl::Status& cause, Outbox& out);
  void ReturnTask(absl::Time now, std::unique_ptr<Activation> record,
                  Outbox& out);

  JobContext& job_;
  LabelTable& labels_;
  ConflictCheck& conflicts_;
  JobStorage& storage_;
  ValueSender& sender_;
  TaskTable& tasks_;
  Demands& demands_;
  Retention& retention_;
  Results& results_;
  DiskOffers& offers_;
  Replication& replication_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_DISK_RECOVERY_H_

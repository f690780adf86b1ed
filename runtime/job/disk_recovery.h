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
  void OnDisk(const Pass& pass, const ValueStore::Event& event);
  // Sends loaded values to their waiters, and values to be written to disk.
  void AdvanceStorage(const Pass& pass);
  CarriedOver TakeCarriedOver() const;  // for the next incarnation
  void AdoptCarriedOver(const Pass& pass, const CarriedOver& carried);

 private:
  void Adopt(const Pass& pass, const Label& label, const Value& value,
             bool is_on_disk);
  void LoseValue(const Label& label, Outbox& out);
  void LoseDisk(const absl::Status& cause, Outbox& out);
  void ReturnTask(const Pass& pass, std::unique_ptr<Activation> record);

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

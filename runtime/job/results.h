// Results: the labels for which the job is run: demanded when nothing moves,
// counted once durable, and handed to those who want them: clients, by way of
// the agent, and the agent itself for the digest of all.
#ifndef DOGGED_RUNTIME_JOB_RESULTS_H_
#define DOGGED_RUNTIME_JOB_RESULTS_H_

#include <utility>
#include <vector>

#include "routing/outbox.h"
#include "runtime/job/demands.h"
#include "runtime/job/job_context.h"
#include "runtime/job/job_labels.h"
#include "runtime/job/job_storage.h"
#include "runtime/job/retention.h"
#include "runtime/job/task_table.h"
#include "runtime/job/waiting.h"

namespace dogged {

class Results {
 public:
  Results(JobContext& job, JobLabels& labels, JobStorage& storage,
          TaskTable& tasks, Demands& demands, Retention& retention)
      : job_(job),
        labels_(labels),
        storage_(storage),
        tasks_(tasks),
        demands_(demands),
        retention_(retention) {}

  // --- what is wanted
  void Want(absl::Time now, const Label& label, Outbox& out);
  std::vector<std::pair<Label, Value>> TakeWanted();
  bool IsWanted(const Label& label) const {
    return wishes_.wanted.contains(label);
  }
  void HandOutIfWanted(const Label& label, const Value& value);
  void SweepWanted(absl::Time now, Outbox& out);
  // Homes have changed.
  void AskAllAgain(absl::Time now);

  // --- what is demanded
  // Which results have their home here.
  void ListResults();
  // False: there is none, or enough is demanded.
  bool OpenNextResult();
  void CountDurableResults();

 private:
  void AskForWanted(absl::Time now, const Label& label, Outbox& out);

  JobContext& job_;
  JobLabels& labels_;
  JobStorage& storage_;
  TaskTable& tasks_;
  Demands& demands_;
  Retention& retention_;
  Wishes wishes_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_RESULTS_H_

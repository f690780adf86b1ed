// Results: the labels for which the job is run: demanded when nothing moves,
// counted once durable, and handed out on request: to clients, by way of the
// agent, and to the agent itself for the digest of all.
#ifndef DOGGED_RUNTIME_JOB_SEARCH_RESULTS_H_
#define DOGGED_RUNTIME_JOB_SEARCH_RESULTS_H_

#include <utility>
#include <vector>

#include "kvstore/dictionary/label_table.h"
#include "kvstore/dictionary/retention.h"
#include "routing/transport/outbox.h"
#include "runtime/job/context/job_context.h"
#include "runtime/job/search/demands.h"
#include "runtime/job/search/result_requests.h"
#include "runtime/job/storage/job_storage.h"
#include "runtime/job/tasks/task_table.h"

namespace dogged {

class Results {
 public:
  Results(JobContext& job, LabelTable& labels, JobStorage& storage,
          TaskTable& tasks, Demands& demands, Retention& retention)
      : job_(job),
        labels_(labels),
        storage_(storage),
        tasks_(tasks),
        demands_(demands),
        retention_(retention) {}

  // --- what is wanted
  void Request(const Pass& pass, const Label& label, RequestKind kind);
  void EndWatches();
  std::vector<std::pair<Label, Value>> TakeResults();
  bool IsRequested(const Label& label) const {
    return requests_.wanted.contains(label);
  }
  void HandOutIfRequested(const Label& label, const Value& value);
  void SweepRequests(const Pass& pass);
  // Homes have changed.
  void AskAllAgain(absl::Time now);

  // --- what is demanded
  // Lists results whose home is here.
  void ListResults();
  // The certain way: when nothing moves, results that are not bound demand. A
  // death is missed at many homes, so a search that another agent has begun is
  // reason enough, and goes on through all results.
  // ADR-14.
  void SearchIfStalled(absl::Time now);
  // This agent has nothing else to do. False: nothing is left.
  bool GoOnSearching(absl::Time now);
  void CountDurableResults();
  // There are some with their home here, and all are bound.
  bool AreBoundHere();

 private:
  // Some that are not bound. False at the end of the list, or for want of room.
  bool OpenResults();
  void AskForRequested(const Pass& pass, const Label& label);

  JobContext& job_;
  LabelTable& labels_;
  JobStorage& storage_;
  TaskTable& tasks_;
  Demands& demands_;
  Retention& retention_;
  ResultRequests requests_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_SEARCH_RESULTS_H_

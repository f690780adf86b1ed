// Walks: the search of an idle agent, spoken in messages: lookups and claims at
// homes. [REM] "REM Search". A task that a walk finds runs here, also if its
// home is elsewhere, and its outputs are published to their homes.
#ifndef DOGGED_RUNTIME_JOB_SEARCH_WALKS_H_
#define DOGGED_RUNTIME_JOB_SEARCH_WALKS_H_

#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "kvstore/dictionary/label_table.h"
#include "routing/transport/outbox.h"
#include "runtime/job/context/job_context.h"
#include "runtime/job/context/job_messages.h"
#include "runtime/job/search/demands.h"
#include "runtime/job/search/walk.h"
#include "runtime/job/tasks/task_table.h"

namespace dogged {

class Walks {
 public:
  Walks(JobContext& job, LabelTable& labels, TaskTable& tasks, Demands& demands)
      : job_(job), labels_(labels), tasks_(tasks), demands_(demands) {}

  void Search(const Pass& pass);
  // A task has ended here: there may be more to find at once.
  void NoteProgress(absl::Time now) {
    walk_pause_ = absl::ZeroDuration();
    next_walk_ = now;
  }
  AnswerBody AnswerTo(absl::Time now, const LookupBody& lookup);
  void HandleAnswer(const Pass& pass, const AnswerBody& body);
  void HandleClaim(const Pass& pass, AgentId from, const ClaimBody& body);
  void HandleClaimed(const Pass& pass, const ClaimBody& body);
  void SweepSearch(const Pass& pass);

 private:
  struct ActiveWalk {
    std::unique_ptr<Walk> walk;
    absl::Time heard;
  };

  bool StartWalk(absl::Time now);
  // False: at its end.
  bool AdvanceWalk(const Pass& pass, Walk& walk);
  bool TakeClaim(absl::Time now, const ClaimBody& body, AgentId holder);
  // A task that a walk has found is run here. False if it runs already.
  bool TakeRemote(const Pass& pass, const Task& task, const Label& wanted);
  void AskForRemote(const Pass& pass, const Task& task);

  JobContext& job_;
  LabelTable& labels_;
  TaskTable& tasks_;
  Demands& demands_;
  std::vector<ActiveWalk> walks_;
  absl::Time next_walk_ = absl::InfinitePast();
  absl::Duration walk_pause_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_SEARCH_WALKS_H_

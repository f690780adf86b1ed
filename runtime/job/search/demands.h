// Demands: the backward search, from labels that are missed to tasks that can
// run. [REM] "REM Search": SOLVE, with the recursion spread over the homes.
#ifndef DOGGED_RUNTIME_JOB_SEARCH_DEMANDS_H_
#define DOGGED_RUNTIME_JOB_SEARCH_DEMANDS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "kvstore/dictionary/label_table.h"
#include "kvstore/replication/value_sender.h"
#include "routing/transport/outbox.h"
#include "runtime/job/context/job_context.h"
#include "runtime/job/tasks/demanded_tasks.h"
#include "runtime/job/tasks/task_table.h"

namespace dogged {

class Demands {
 public:
  Demands(JobContext& job, LabelTable& labels, ValueSender& sender,
          TaskTable& tasks)
      : job_(job),
        labels_(labels),
        sender_(sender),
        tasks_(tasks),
        open_(job.limits.open_demands_max) {}

  void HandleDemand(AgentId from, const DemandBody& body, Outbox& out);
  void HandleRetired(AgentId from, const RetiredBody& body, Outbox& out);

  // --- open demands: labels that are yet to be followed to their tasks
  void Open(const OpenDemand& demand) { open_.Add(demand); }
  void Close(const Label& label) { open_.Erase(label); }
  bool HasOpen() const { return !open_.empty(); }
  void ResolveNext(const Pass& pass) { ResolveDemand(pass, open_.TakeFirst()); }
  // Opens demands that waited for copies after a death.
  void OpenDelayed();
  // Opens far demands whose rows have moved. False: there are none.
  bool OpenMoved(absl::Time now);

  // --- tasks that are demanded
  void DemandInputs(const Pass& pass, const Task& task, int32_t depth,
                    bool certain);
  // Tasks that have waited for long demand their missing inputs, some at a
  // time.
  void DemandOverdueInputs(const Pass& pass);
  // Tasks whose demands were not answered demand again.
  void DemandAgain(const Pass& pass);
  // Marks inputs that are here, demands the rest but for inputs that
  // `coming_from` sends.
  void FetchInputs(const Task& task, AgentId coming_from, Outbox& out);
  // `label`, needed for certain, is made again if it was dropped or lost.
  void RecomputeIfGone(const Label& label);

 private:
  // `demand` is answered with the value of `entry`.
  void CountSent(AgentId to, const DemandBody& demand, const LabelEntry& entry);
  // The unbound label of its row to look at; none: lost labels may yet come.
  std::optional<Label> FirstUnboundVersion(const OpenDemand& open,
                                           absl::Time now) const;
  void ResolveDemand(const Pass& pass, const OpenDemand& open);
  // An agent, a demanded task or the job itself waits for `label`.
  bool IsAwaited(const Label& label) const;
  void BelieveDone(const Task& task);  // an input was dropped
  // True if it insists on the label.
  bool BelieveRetired(AgentId from, const Label& label, const Task& task,
                      Outbox& out);

  JobContext& job_;
  LabelTable& labels_;
  ValueSender& sender_;
  TaskTable& tasks_;
  OpenDemands open_;
  std::vector<OpenDemand> delayed_;  // until the job's `rebuild_after`
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_SEARCH_DEMANDS_H_

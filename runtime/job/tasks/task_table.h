// TaskTable: where each task of a job is at this agent. A task that is known
// here is in exactly one of these states, each with one place:
//
//   waiting       some input is missing           activations_
//   future round  complete, its round is not      future_
//   granted       another agent runs it           stealing_
//   ready         complete, no worker is free     ready_
//   loading       an input is on disk             storage_
//   unsupplied    a chunk of an input is missing  unsupplied_
//   running       at the executor                 in_flight_ alone
//
//   waiting -> future round -> (granted | ready | loading | unsupplied |
//   running); granted -> ready (it came back); ready -> loading | unsupplied |
//   running | granted; loading -> running, or waiting (its inputs don't come);
//   any -> none (DropTask, or it has ended).
//
// Granted, ready, loading, unsupplied and running tasks are *in flight*: all
// inputs are at hand or will be. Beside its state a task may be demanded
// (demanded), or be another agent's that is run here (remote).
#ifndef DOGGED_RUNTIME_JOB_TASKS_TASK_TABLE_H_
#define DOGGED_RUNTIME_JOB_TASKS_TASK_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "kvstore/dictionary/label_table.h"
#include "runtime/exec/activation_table.h"
#include "runtime/exec/leaves.h"
#include "runtime/graph/kernel.h"
#include "runtime/job/context/job_context.h"
#include "runtime/job/storage/job_storage.h"
#include "runtime/job/tasks/claims.h"
#include "runtime/job/tasks/demanded_tasks.h"
#include "runtime/job/tasks/ready_queue.h"
#include "runtime/job/tasks/remote_tasks.h"
#include "runtime/job/tasks/stealing.h"

namespace dogged {

class TaskTable {
 public:
  // All outlive this.
  TaskTable(JobContext& job, LabelTable& labels, JobStorage& storage,
            std::shared_ptr<const KernelTable> kernels);
  TaskTable(const TaskTable&) = delete;
  TaskTable& operator=(const TaskTable&) = delete;

  // --- questions
  // The first output of `task` is bound here, or was: a hint, by watermarks.
  bool IsDone(const Task& task) const;
  // All its outputs were bound or dropped, as far as watermarks say.
  bool IsWhollyDone(const Task& task) const;
  bool IsDemanded(const Task& task) const;
  bool IsInFlight(const Task& task) const { return in_flight_.contains(task); }
  bool IsComplete(const Task& task) const;  // all its inputs are at hand
  // It waits, and for this label, or the label of this use.
  bool IsMissing(const Task& task, const Label& label) const;
  bool IsMissing(const Task& task, int use) const {
    return !IsComplete(task) && !activations_.IsMarked(task, use);
  }
  // The former home of `task` may still run it.
  bool IsHeld(const Task& task) const;
  bool HasInFlight() const { return !in_flight_.empty(); }
  bool HasLeaves() const { return leaves_.has_value(); }
  bool IsPaused() const { return paused_; }
  int64_t executing_count() const;  // also elsewhere, for this agent
  int64_t running_count() const;    // here
  // As many tasks as keep the workers busy.
  int64_t QueueTarget() const;

  // --- transitions
  // Input `use` of `task` is at hand. The last one that was missing submits it.
  void MarkInput(const Task& task, int use, const Value& value);
  // A complete task runs, waits for a worker, or for its round.
  void Submit(std::unique_ptr<Activation> record);
  // A task that requires nothing; false if it is in flight.
  bool StartLeaf(const Task& task);
  bool StartNextLeaf();
  // Leaves that were drawn before are not drawn again, unless some are left or
  // it begins `anew`.
  void DrawLeaves(bool anew);
  void StartReady();     // as many as the workers can do with
  void StartSupplied();  // whose chunks have come
  void StartRound();     // future tasks whose round has come
  // Runs a task whose inputs were loaded; or takes it back, with the inputs
  // that it has.
  void Execute(std::unique_ptr<Activation> record);
  void Return(std::unique_ptr<Activation> record);
  // `task` has ended at the executor, or is not wanted here any more.
  void NoteEnded(const Task& task) { in_flight_.erase(task); }
  void EndDemand(const Task& task);
  void DropTask(const Task& task);
  // Drops tasks whose home moved elsewhere; running ones go on, of which
  // TaskGrants tells the new home.
  void DropMovedTasks();
  void ClaimMovedTasks();
  void Pause() { paused_ = true; }
  void SetKernels(std::shared_ptr<const KernelTable> kernels);
  // This agent's own trouble; if it is unable, tasks that have not started go.
  void Suffer(TroubleKind kind, absl::Status cause);
  // `from` says that it has `label`: it was too late with its task.
  void CountIfLate(const Label& label, AgentId from);

  // --- parts, for the components that are about them
  ActivationTable& activations() { return activations_; }
  const ActivationTable& activations() const { return activations_; }
  ReadyQueue& ready() { return ready_; }
  Stealing& stealing() { return stealing_; }
  DemandedTasks& demanded() { return demanded_; }
  RemoteTasks& remote() { return remote_; }
  Claims& claims() { return claims_; }
  const KernelTable* kernels() const { return kernels_.get(); }
  // Tasks are ready, and can't run without.
  bool AwaitsKernels() const {
    return kernels_ == nullptr && ready_.size() > 0;
  }
  void ReplaceInputs(absl::FunctionRef<Value(const Value&)> visit);

  // Ends the process, naming the task, unless each task is in one state and one
  // place, as drawn above. Cost: O(tasks that are known here).
  void CheckInvariants() const;

 private:
  // The one place, but for the executor, in which a task in flight is; checked
  // to be only one. None: it runs.
  const char* PlaceOf(const Task& task) const;
  bool MayStart() const;
  // No other agent is to have or to read the outputs of `task`. Also false
  // where that would take long to find out.
  bool IsInternal(const Task& task) const;
  void Start(std::unique_ptr<Activation> record);
  // The chunks of inputs that the task reads are at hand, or will be.
  bool HasInputs(const Activation& record);
  void CountReads(const Activation& record);
  // Drops labels that `kernel` updates in place, if no other agent can have
  // them.
  void ReleaseInputsEarly(const Activation& record, const Kernel& kernel);

  JobContext& job_;
  LabelTable& labels_;
  JobStorage& storage_;
  std::shared_ptr<const KernelTable> kernels_;  // null: not made yet
  ActivationTable activations_;
  ActivationPool activation_pool_;
  absl::flat_hash_set<Task> in_flight_;
  ReadyQueue ready_;
  ReadyQueue unsupplied_;
  ReadyQueue future_;
  Stealing stealing_;
  DemandedTasks demanded_;
  RemoteTasks remote_;
  Claims claims_;  // of tasks whose home is here, by agents that walk
  std::optional<LeafCursor> leaves_;
  bool paused_ = false;  // no task starts; ready ones move away
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_TASKS_TASK_TABLE_H_

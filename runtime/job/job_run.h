// JobRun: an agent's part in a job, where computing (graph, exec) meets the
// dictionary (kvstore, routing). It wires the components together, each of
// which stands in a file of its own, hands them messages, completions and time,
// and gives the executor work. A machine: no threads, clocks or sockets. How it
// works is in docs/ARCHITECTURE.md, "The protocol".
#ifndef DOGGED_RUNTIME_JOB_JOB_RUN_H_
#define DOGGED_RUNTIME_JOB_JOB_RUN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kvstore/dictionary.h"
#include "runtime/job/carried_over.h"
#include "runtime/job/context/job_context.h"
#include "runtime/job/context/job_dependencies.h"
#include "runtime/job/disk_recovery.h"
#include "runtime/job/search/demands.h"
#include "runtime/job/search/result_requests.h"
#include "runtime/job/search/results.h"
#include "runtime/job/search/walks.h"
#include "runtime/job/storage/job_storage.h"
#include "runtime/job/task_grants.h"
#include "runtime/job/task_producers.h"
#include "runtime/job/tasks/task_readers.h"
#include "runtime/job/tasks/task_table.h"
#include "runtime/job/view_change.h"

namespace dogged {

class JobRun {
 public:
  explicit JobRun(JobDependencies parts);
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;

  // --- what happens
  void SetMembers(const Pass& pass, PlacementView view) {
    views_.SetMembers(pass, std::move(view));
  }
  void ExpectHandover(absl::Time now, AgentId leaver) {
    dictionary_.homes.ExpectHandover(now, leaver);
  }
  void TellStart(Outbox& out) { dictionary_.homes.TellStart(out); }
  // Takes a message of kind JobMessage, also from this agent. Errors:
  // kInvalidArgument for a malformed one, which changes nothing.
  absl::Status Receive(const Pass& pass, AgentId from, uint8_t kind,
                       const Bytes& body);
  // Takes `value`, lent by `from`, as if by kPublish.
  absl::Status ReceiveLent(const Pass& pass, AgentId from, const Label& label,
                           const Value& value);
  // Whether the value of `announce` is needed here.
  bool Lacks(absl::string_view announce) const {
    return dictionary_.replication.Lacks(announce);
  }
  void OnCompletion(const Pass& pass, Completion completion);
  void OnDisk(const Pass& pass, const ValueStore::Event& event) {
    recovery_.OnDisk(pass, event);
  }
  void Tick(const Pass& pass);
  void Feed(const Pass& pass);  // gives the executor work
  // Ends a pass.
  void SendBatches(Outbox& out) { job_.messenger.SendBatches(out); }
  void NoteRoundTrip(absl::Duration time) { job_.times.NoteRoundTrip(time); }
  void CopyOrphans(int64_t bytes_max) {
    dictionary_.sender.CopyOrphans(bytes_max);
  }
  void Pause() { tasks_.Pause(); }  // no task starts; ready ones move away
  // If it has none.
  void SetKernels(std::shared_ptr<const KernelTable> kernels) {
    tasks_.SetKernels(std::move(kernels));
  }
  // This agent's own trouble. kSlow that is OK: it is slow no more.
  void Suffer(TroubleKind kind, absl::Status cause) {
    tasks_.Suffer(kind, std::move(cause));
  }
  void RaiseRound(int64_t round, bool is_last);

  // --- results
  void RequestResult(const Pass& pass, const Label& label, RequestKind kind) {
    results_.Request(pass, label, kind);
  }
  std::vector<std::pair<Label, Value>> TakeResults() {
    return results_.TakeResults();
  }
  // It is bound here, in memory or on disk.
  bool Holds(const Label& label) const {
    const LabelEntry* entry = dictionary_.labels.shard.FindBound(label);
    return entry != nullptr && !entry->value.IsNone();
  }
  // DONE: results no longer count as demanded, except by requests to make them;
  // nobody watches any more.
  void SetResultsDemanded(bool demanded) {
    job_.goal.is_demanded = demanded;
    if (!demanded) results_.EndWatches();
  }
  // Where values are on this agent, for who ends the run or leaves.
  JobStorage& storage() { return storage_; }

  // --- incarnations and directories
  void StartDiskScan() { recovery_.StartDiskScan(); }
  CarriedOver TakeCarriedOver() const { return recovery_.TakeCarriedOver(); }
  void AdoptCarriedOver(const Pass& pass, const CarriedOver& carried) {
    recovery_.AdoptCarriedOver(pass, carried);
  }

  // Ends the process, naming what broke; see TaskTable and LabelTable. A job
  // that has failed is left as it was.
  void CheckInvariants() const {
    if (!job_.failure.ok()) return;
    tasks_.CheckInvariants();
    dictionary_.labels.CheckInvariants(job_.dictionary);
  }

  // --- questions
  const absl::Status& failure() const { return job_.failure; }  // OK: goes on
  const Trouble& trouble() const { return job_.trouble; }
  const JobStats& stats() const { return job_.stats; }
  const Rounds& rounds() const { return job_.goal.rounds; }
  const TaskTable& tasks() const { return tasks_; }
  int64_t held_count() const { return dictionary_.labels.shard.size(); }
  int64_t held_bytes() const {
    return dictionary_.labels.shard.BytesInMemory();
  }
  // See Replication.
  std::map<AgentId, Replication::HandedOver> TakeHandedOver() {
    return dictionary_.replication.TakeHandedOver();
  }
  // The digest of a label that this agent holds, or has heard of.
  std::optional<Digest> KnownDigest(const Label& label) const {
    return dictionary_.conflicts.KnownDigest(label);
  }

 private:
  absl::Status ReceiveSearch(const Pass& pass, AgentId from, JobMessage kind,
                             absl::string_view body);
  void ActOnRounds(const Pass& pass);
  void Sweep(const Pass& pass);

  // Each uses those above it, and none below; but the two ports through which
  // the dictionary asks about tasks and results, which stand below it.
  JobContext job_;
  TaskReaders readers_;
  TaskProducers producers_;
  Dictionary dictionary_;
  JobStorage storage_;
  TaskTable tasks_;
  Demands demands_;
  Results results_;
  DiskRecovery recovery_;
  TaskGrants grants_;
  Walks walks_;
  ViewChange views_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_JOB_RUN_H_

// JobRun: one agent's part in one job, where what to compute (graph, exec) and
// where it is kept (kvstore, routing) meet. A machine: no threads, clocks or
// sockets. How it works is in docs/ARCHITECTURE.md, "The protocol".
#ifndef DOGGED_RUNTIME_AGENT_JOB_RUN_H_
#define DOGGED_RUNTIME_AGENT_JOB_RUN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "kvstore/digest_log.h"
#include "kvstore/shard.h"
#include "runtime/agent/carried_over.h"
#include "runtime/agent/copy_queue.h"
#include "runtime/agent/credit.h"
#include "runtime/agent/debts.h"
#include "runtime/agent/handover.h"
#include "runtime/agent/job_mail.h"
#include "runtime/agent/job_options.h"
#include "runtime/agent/job_parts.h"
#include "runtime/agent/job_places.h"
#include "runtime/agent/job_stats.h"
#include "runtime/agent/job_storage.h"
#include "runtime/agent/marks.h"
#include "runtime/agent/parked_tasks.h"
#include "runtime/agent/pursuits.h"
#include "runtime/agent/root_demand.h"
#include "runtime/agent/search_state.h"
#include "runtime/agent/stealing.h"
#include "runtime/agent/stillness.h"
#include "runtime/agent/task_times.h"
#include "runtime/agent/troubles.h"
#include "runtime/agent/waiting.h"
#include "runtime/agent/wide_labels.h"
#include "runtime/base/random.h"
#include "runtime/exec/activation_table.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/leaves.h"
#include "runtime/graph/job.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/relations.h"

namespace dogged {

class JobRun {
 public:
  explicit JobRun(JobParts parts);
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;

  void SetKernels(
      std::shared_ptr<const KernelTable> kernels);  // if it has none
  void Pause() { paused_ = true; }  // no task starts; what is ready moves away
  void NoteRoundTrip(absl::Duration time) { times_.NoteRoundTrip(time); }
  int64_t executing_count() const;  // tasks; also elsewhere, for this agent
  void SetMembers(absl::Time now, PlacementView view, Outbox& out);
  void ExpectHandover(absl::Time now, AgentId leaver);
  void TellStart(Outbox& out);
  // Of kind JobMessage, also of this agent. Errors: kInvalidArgument for a
  // malformed one, which changes nothing.
  absl::Status Receive(absl::Time now, AgentId from, uint8_t kind,
                       absl::string_view body, Outbox& out);
  bool Lacks(absl::string_view announce) const;  // needs the bytes of that
  // `value`, of `from`, is lent: as a kPublish of it.
  absl::Status ReceiveLent(absl::Time now, AgentId from, const Label& label,
                           const Value& value, Outbox& out);
  void CopyOrphans(int64_t bytes_max);  // of values whose owner has gone
  void OnCompletion(absl::Time now, Completion completion, Outbox& out);
  void Tick(absl::Time now, Outbox& out);
  void Feed(absl::Time now, Outbox& out);  // gives the executor work
  void SendBulks(Outbox& out) { mail_.SendBulks(out); }  // ends a pass

  // A client's; TakeWanted() hands it out once it is here.
  void Want(absl::Time now, const Label& label, Outbox& out);
  std::vector<std::pair<Label, Value>> TakeWanted();
  void Recall();  // offers what the agent's directory holds of this job
  CarriedOver TakeCarriedOver() const;  // for the next incarnation, to adopt
  void AdoptCarriedOver(absl::Time now, const CarriedOver&, Outbox& out);
  void OnDisk(absl::Time now, const ValueStore::Event& event, Outbox& out);
  // The job has ended: what is on disk and elsewhere too goes.
  void ConcludeStorage() { storage_.Conclude(); }
  // DONE: results no longer count as demanded, but by those who Want() them.
  void SetResultsDemanded(bool demanded) { root_.is_demanded = demanded; }
  const Rounds& rounds() const { return root_.rounds; }
  void RaiseRound(int64_t round, bool is_last);

  const absl::Status& failure() const { return failure_; }  // OK: it goes on
  void Suffer(TroubleKind kind, absl::Status cause);  // of this agent's own
  void EndSlowness();
  const Trouble& trouble() const { return trouble_; }
  const JobStats& stats() const { return stats_; }
  // That this agent holds, or has heard of; none if it knows of none.
  std::optional<Digest> KnownDigest(const Label& label) const;
  const Program& program() const { return job_->program; }
  const Relations& relations() const { return relations_; }
  JobId id() const { return id_; }
  int64_t held_count() const { return shard_.size(); }
  int64_t held_bytes() const { return shard_.BytesInMemory(); }

 private:
  // --- job_run.cc: life of a task
  // Its first output is bound here, or was: a hint, by done-marks.
  bool IsDone(const Task& task) const;
  void DropTask(const Task& task);
  bool IsPursued(const Task& task) const;
  bool IsComplete(const Task& task) const;  // all its inputs are at hand
  void MarkInput(const Task& task, int use, const Value& value);
  void Submit(std::unique_ptr<Activation> record);
  int64_t running_count() const;  // of this job, here
  bool MayStart() const;
  void StartParked();
  bool IsHeld(const Task& task) const;
  bool IsWhollyDone(const Task& task) const;
  void Start(std::unique_ptr<Activation> record);
  void Execute(std::unique_ptr<Activation> record);
  // What it reads of the job's inputs is at hand, or will be.
  bool HasInputs(const Activation& record);
  void StartSupplied();
  bool StartLeaf(const Task& task);
  bool StartNextLeaf();
  void Fail(absl::Status status);
  bool IsUnable() const;

  // --- publish.cc: binding and copies
  void BindOutput(absl::Time now, const Label& label, const Value& value,
                  Outbox& out);
  void BindAtHome(absl::Time now, const Label& label, const Value& value,
                  AgentId from, Outbox& out);
  void BecomeHome(const Label& label, Entry& entry);
  void HandlePublish(absl::Time now, AgentId from, const PublishBody&, Outbox&);
  void HandleAnnounce(absl::Time, AgentId from, const AnnounceBody&, Outbox&);
  void HandleStored(absl::Time now, AgentId from, const AnnounceBody&, Outbox&);
  // `mine`, which this agent holds or has held, and another digest for a label.
  void FailOfConflict(const Label& label, const Digest& mine,
                      const Digest& other, AgentId from);
  // Binds and logs the value; true if the label was not bound here. None: with
  // another digest it was bound or logged, and the job has failed.
  std::optional<bool> BindHere(const Label& label, const Value& value,
                               AgentId from);
  // With the value that is held, then with the log, which it enters; false if
  // it is another one, and the job has failed.
  bool CompareDigest(const Label& label, const Digest& digest, AgentId from);
  bool LogDigest(const Label& label, const Digest& digest, AgentId from);
  bool LogDigests(const std::vector<RowDigests>& rows, AgentId from);
  // A sender that is not the label's home takes itself for it: the home is to
  // hear of the digest, too.
  void NoteDigestFrom(absl::Time now, AgentId from, const Label& label);
  // A value without a digest gets one if one is logged.
  bool LogDigestOf(const Label& label, const Value& value, AgentId from);
  void CountReads(const Activation& record);
  void AddMissingReplicas(const Label& label, const Entry& entry,
                          absl::btree_set<AgentId>& targets) const;
  // Sent a little later, if it is not used up by then.
  void QueueCopies(absl::Time now, const Label& label);
  void SendCopies(absl::Time now, Outbox& out);
  void ScheduleAnnounce(absl::Time now, Entry& entry);
  void Announce(absl::Time now, const Label& label, Outbox& out);

  // --- consumers.cc: who reads a label
  Value ValueAtHand(const Label& label);   // none: it has to be demanded
  bool IsSettled(const Task& task) const;  // done here: its inputs are free
  // Marks the consumers whose home is here, reports those that are done to the
  // label's home. If `value` is none it is demanded from `holder`, if need be.
  void TellLocalConsumers(const Label& label, const Value& value,
                          AgentId holder, Outbox& out);
  void TellWide(const Label&, const Value&, AgentId holder, Outbox& out);
  // Homes, other than this agent, of consumers that are not known as done.
  absl::btree_set<AgentId> RemoteConsumerHomes(const Label& label,
                                               const Entry& entry) const;
  // What still reads it has run here: copies of its outputs are enough.
  bool IsUsedUp(const Label& label, const Entry& entry) const;
  void ReportDone(const Task& task, Outbox& out);
  void CountDown(const Label& wide, int64_t uses, Outbox& out);
  void ConsumerDone(const Label& label, const Task& task, Outbox& out);
  void HandleDone(AgentId from, const DoneBody& body, Outbox& out);
  void CrossOffReported(Outbox& out);
  // --- fetch.cc: demands
  void HandleDemand(AgentId from, const DemandBody& body, Outbox& out);
  // `label`, needed for certain, is made again if it was dropped or lost.
  void ReopenIfGone(const Label& label);
  // The unbound label of its row to look at; none: the lost may yet come.
  std::optional<Label> FrontierOf(const OpenDemand& open, absl::Time now) const;
  void Expand(absl::Time now, const OpenDemand& open, Outbox& out);
  // Some agent, some task that is pursued here or the job itself waits for it.
  bool IsAwaited(const Label& label) const;
  bool IsMissing(const Task& task, const Label& label) const;
  void PursueTask(absl::Time now, const Task& task, int32_t depth, bool certain,
                  Outbox& out);
  bool OpenNextResult();
  void AskForWanted(absl::Time now, const Label& label, Outbox& out);
  void HandOutIfWanted(const Label& label, const Value& value);
  void BelieveDone(const Task& task);  // an input was dropped

  // --- search.cc: walks
  absl::Status ReceiveSearch(absl::Time now, AgentId from, JobMessage kind,
                             absl::string_view body, Outbox& out);
  void Search(absl::Time now, Outbox& out);
  bool StartWalk(absl::Time now);
  bool AdvanceWalk(absl::Time now, Walk&, Outbox& out);  // false: at its end
  AnswerBody AnswerTo(absl::Time now, const LookupBody& lookup);
  // A task that a walk has found is run here. False if it runs already.
  bool Pick(absl::Time now, const Task& task, const Label& wanted, Outbox& out);
  void AskForPicked(absl::Time now, const Task& task, Outbox& out);
  // Marks what is here, demands the rest but for what `coming_from` sends.
  void FetchInputs(const Task& task, AgentId coming_from, Outbox& out);
  bool TakeClaim(absl::Time now, const ClaimBody& body, AgentId holder);
  void HandleAnswer(absl::Time now, const AnswerBody& body, Outbox& out);
  void HandleClaim(absl::Time now, AgentId from, const ClaimBody&, Outbox& out);
  void SweepSearch(absl::Time now, Outbox& out);
  // --- steal.cc: others' tasks
  void AskForTasks(absl::Time now, Outbox& out);
  bool MayGive(absl::Time now) const;
  void GiveTasks(absl::Time now, Outbox& out);
  int64_t BytesToMove(const Activation& record, AgentId thief) const;
  void HandleGift(absl::Time now, AgentId from, const ClaimBody&, Outbox& out);
  void SweepStealing(absl::Time now, Outbox& out);
  void CountIfLate(const Label& label, AgentId from);
  // --- retire.cc: dropping
  void HandleRetired(AgentId from, const RetiredBody& body, Outbox& out);
  // True if it insists on the label.
  bool BelieveRetired(AgentId from, const Label&, const Task&, Outbox& out);
  // Has enough copies, as far as this agent knows.
  bool IsDurable(const Label& label, const Entry& entry) const;
  // Tells the producer's inputs once its outputs here are durable.
  void ReportIfDurable(const Label& label, Outbox& out);
  // Drops what `kernel` updates and nobody else can have: done in place.
  void GiveUpInputs(const Activation& record, const Kernel& kernel);
  void RetireIfUnneeded(const Label& label, Outbox& out);
  void Drop(const Label& label, Outbox& out);
  // --- storage.cc: disk, memory, sending
  // Its value, once loaded, to those who have credit; others hear of it.
  void SendValue(absl::btree_set<AgentId> targets, const Label& label,
                 Outbox& out, Sending why = Sending::kPublication);
  void PayDebts(absl::Time now, Outbox& out);  // as far as there is credit
  void AdvanceStorage(absl::Time now, Outbox& out);
  void Adopt(absl::Time, const Label&, const Value&, bool is_on_disk, Outbox&);
  void NoteFound(const Label& label, Outbox& out);
  void LoseValue(const Label& label, Outbox& out);
  void ReturnTask(absl::Time now, std::unique_ptr<Activation>, Outbox& out);
  void LoseDisk(const absl::Status& cause, Outbox& out);
  bool AwaitsOffers(absl::Time now) const;
  void NoteOffer(absl::Time now);

  // --- recovery.cc: changes of view, and time
  void ReviewHandovers(absl::Time now, const Placement& before, Outbox& out);
  void PeerStarted(absl::Time now, AgentId peer, Outbox& out);
  void AskAllAgain(absl::Time now);
  void DropMovedTasks();
  void ClaimMovedTasks();
  void ListResults();
  void ReviewEntry(absl::Time now, const Label&, const Placement&, Outbox&);
  void PublishToNew(absl::Time now, const Label& label, const Entry& entry,
                    const Placement& before, Outbox& out);
  // Tells the homes of rows that have `moved` how far they are.
  void HandOverMarks(absl::FunctionRef<bool(const Label&)> moved, Outbox&);
  bool HandleMarks(absl::Time now, AgentId from, const MarksBody& body);
  // Homes of rows that have `moved` are to hear which digests are logged.
  void MarkDigestsUntold(absl::Time now,
                         absl::FunctionRef<bool(const Label&)> moved);
  void TellDigests(absl::Time now, Outbox& out);
  // Something of this job may have been lost, so labels may be made again.
  bool HasLost() const { return rebuild_after_ != absl::InfinitePast(); }
  void TellThrough(Outbox& out);
  void ActOnRounds(absl::Time now, Outbox& out);
  void PursueOverdue(absl::Time now, Outbox& out);
  void Sweep(absl::Time now, Outbox& out);
  void SweepWanted(absl::Time now, Outbox& out);
  void CountDurableResults();

  const AgentId self_;
  const JobId id_;
  const std::shared_ptr<const Job> job_;
  std::shared_ptr<const KernelTable> kernels_;
  const JobOptions options_;
  const JobLimits limits_;
  Executor& executor_;
  Rng rng_;
  const Relations relations_;
  const bool forward_;
  Shard shard_;
  Marks marks_;
  DigestLog digests_;
  JobPlaces places_;
  DoneReports done_reports_;
  WideLabels wide_;
  ActivationTable activations_;
  ActivationPool activation_pool_;
  absl::flat_hash_set<Task> in_flight_;  // parked, staged, at the executor
  ParkedTasks parked_;
  Stealing stealing_;
  Handover handover_;
  bool has_told_start_ = false;
  bool paused_ = false;
  JobStorage storage_;
  Lending* const lending_;
  InputChunks* const inputs_;
  ParkedTasks unsupplied_;  // wait for those
  Pursuits pursuits_;
  OpenDemands open_;
  CopyQueue copy_queue_;
  JobStats stats_;
  JobMail mail_;
  Credit credit_;
  Debts debts_;
  SearchState search_;
  std::optional<LeafCursor> leaves_;
  RootDemand root_;
  // After a death nothing is rebuilt before this: copies come first.
  absl::Time rebuild_after_ = absl::InfinitePast();
  std::vector<OpenDemand> delayed_;  // until then
  Wishes wishes_;
  Offers offers_;
  absl::Time next_sweep_ = absl::InfinitePast();
  Stillness stillness_;
  TaskTimes times_;
  absl::Status failure_;
  Trouble trouble_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_JOB_RUN_H_

// Agent: one process taking part, without its process. It wires the components
// together, each of which stands in a file of its own, and hands them messages,
// completions and time, in the order of one pass of the loop. The world enters
// through the ports, so the simulation runs this very code.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_AGENT_H_
#define DOGGED_RUNTIME_AGENT_AGENT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "routing/membership/membership.h"
#include "routing/memory/shared_memory.h"
#include "routing/multicast/multicast.h"
#include "routing/transport/transport.h"
#include "runtime/agent/agent_context.h"
#include "runtime/agent/agent_options.h"
#include "runtime/agent/departure.h"
#include "runtime/agent/job_completion.h"
#include "runtime/agent/job_entry.h"
#include "runtime/agent/job_exchange.h"
#include "runtime/agent/job_inputs.h"
#include "runtime/agent/job_kernels.h"
#include "runtime/agent/job_lifecycle.h"
#include "runtime/agent/job_loans.h"
#include "runtime/agent/job_records.h"
#include "runtime/agent/job_reports.h"
#include "runtime/agent/job_table.h"
#include "runtime/agent/job_takers.h"
#include "runtime/agent/job_tools.h"
#include "runtime/agent/mailbox.h"
#include "runtime/agent/membership_changes.h"
#include "runtime/agent/records/job_index.h"
#include "runtime/agent/records/job_journal.h"
#include "runtime/agent/records/job_record.h"
#include "runtime/agent/result_keepers.h"
#include "runtime/agent/stats_gossip.h"
#include "runtime/base/bytes.h"
#include "runtime/exec/background.h"
#include "runtime/exec/executor.h"
#include "runtime/job/carried_over.h"

namespace dogged {

class Agent {
 public:
  // The ports outlive the agent. Kernels that run are stopped with it.
  Agent(AgentOptions options, Transport& transport, Executor& executor,
        Background& background, JobTools tools);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // A pass: arrivals, completions, ticks, new work, sends; in this order.
  void RunOnce(absl::Time now);
  // Time of the next RunOnce() if nothing arrives.
  absl::Time next_wake() const { return next_wake_; }
  // The last pass brought something and a worker is idle: the next message may
  // be close, and a thread that looks out for it takes no core from a task.
  bool ExpectsMore() const {
    const Executor& executor = context_.executor;
    return had_news_ && !executor.LooksOut() &&
           executor.unfinished_count() < executor.worker_count();
  }

  // --- membership
  AgentId id() const { return context_.id(); }
  // To join: give the Snapshot() of this agent to Admit() of another one, and
  // its answer, from control address `by`, to Join(); see Membership.
  std::string Snapshot(bool is_for_kin = false) const {
    return context_.membership.Snapshot(is_for_kin);
  }
  absl::StatusOr<std::string> Admit(absl::Time now,
                                    absl::string_view snapshot) {
    return context_.membership.Admit(now, snapshot);
  }
  absl::StatusOr<AgentId> Join(absl::Time now, absl::string_view answer,
                               absl::string_view by) {
    return context_.membership.Absorb({now, context_.outbox}, answer, by);
  }
  void NoteSettled() { takers_.NoteSettled(); }  // contacts were asked
  // A life line to `peer` broke.
  void PeerDied(absl::Time now, AgentId peer, absl::string_view cause) {
    context_.membership.PeerDied({now, context_.outbox}, peer, cause);
  }
  // Lets running tasks end, tells all, hands over; IsGone() once that is done.
  // With `why` the log says so.
  void Leave(absl::Time now, absl::string_view why = {}) {
    departure_.Begin(now, why);
  }
  // After Leave(): waits for nobody any more.
  void HurryLeave(absl::Time now) { departure_.Hurry(now); }
  bool IsGone() const { return context_.phase == AgentPhase::kGone; }
  bool declared_dead() const { return context_.membership.declared_dead(); }
  const Membership& membership() const { return context_.membership; }
  const RoutingTable& routing_table() const {
    return context_.multicast.table();
  }
  const Streams& streams() const { return context_.multicast.streams(); }
  std::vector<MembershipEvent> TakeEvents() {  // since the last call
    return changes_.TakeEvents();
  }

  // --- jobs
  // Takes a job to run. `encoded` is Job::Encode(). The same job under the
  // same submission changes nothing.
  //
  // The job begins, and others are told of it, once a second agent has it:
  // IsTold().
  //
  // Errors: kInvalidArgument for no job; kAlreadyExists while a job of the same
  //         name with another text runs, as far as is known here.
  absl::StatusOr<JobId> Submit(absl::Time now, std::string encoded,
                               SubmissionId submission,
                               const JobOptions& options,
                               uint64_t text_hash = 0) {
    return exchange_.Submit(now, std::move(encoded), submission, options,
                            text_hash);
  }
  bool IsTold(JobId job) const { return exchange_.IsTold(job); }
  // The end of this submission is in the directory, if there is one.
  bool IsEndKept(const JobRecord& record) const {
    return !journal_.IsWritingEnd(record.Key());
  }
  // The directory may have jobs that are not known here yet.
  bool ReadsDirectory() const { return exchange_.ReadsDirectory(); }
  // A new state of a known submission: done, cancelled, failed.
  void Conclude(absl::Time now, JobRecord record) {
    lifecycle_.Conclude(now, std::move(record));
  }
  // A client is there that has all inputs of the job, or none any more; the
  // chunks that it is to supply, and a supplied one. Errors: kNotFound without
  // such a job; kInvalidArgument for bytes that are not that chunk.
  void SetSupplier(JobId job, bool is_there) {
    inputs_.SetSupplier(job, is_there);
  }
  std::vector<ChunkId> TakeInputWishes(JobId job) {
    return inputs_.TakeWishes(job);
  }
  absl::Status Supply(JobId job, const ChunkId& chunk,
                      absl::string_view bytes) {
    return inputs_.Supply(job, chunk, bytes);
  }
  // For a new incarnation: submissions that run, and their jobs.
  std::vector<std::pair<JobRecord, Bytes>> RunningJobs() const {
    return reports_.RunningJobs();
  }
  // For a new incarnation in the same process: state of a job, to be adopted
  // once the job runs there, else dropped.
  CarriedOver TakeCarriedOver(JobId job) const;
  void AdoptCarriedOver(absl::Time now, JobId job, const CarriedOver& carried);
  // The same of records: a client may have been told that its job is cancelled,
  // and nobody else yet.
  std::vector<std::pair<std::string, GossipRecord>> Records() const {
    return context_.membership.AllRecords();
  }
  void AdoptRecords(absl::Time now,
                    std::vector<std::pair<std::string, GossipRecord>> records) {
    context_.membership.PutRecords({now, context_.outbox}, std::move(records));
  }
  // Requests result labels for the client; see JobRun::Want().
  //
  // Errors: kNotFound without such a job; kUnavailable while its value is
  //         still being fetched.
  absl::Status Want(absl::Time now, JobId job, absl::Span<const Label> labels) {
    return completion_.Want(now, job, labels);
  }
  // Likewise labels that are bound, or will be: no work is done for them, and
  // after the job's end nobody waits any more. Errors: kNotFound if the job
  // does not run here.
  absl::Status Watch(absl::Time now, JobId job,
                     absl::Span<const Label> labels) {
    return completion_.Watch(now, job, labels);
  }
  // For the connection of a client that has results of `job` written here: as
  // long as it keeps this they stay here, and this agent does not end the job.
  // Null without such a job. A job that is forgotten and begins anew has
  // another one.
  std::shared_ptr<const void> HoldForWriting(JobId job) {
    return completion_.HoldForWriting(job);
  }
  // The part of `labels` that is bound here, in memory or on disk.
  std::vector<Label> HeldOf(JobId job, absl::Span<const Label> labels) const {
    return completion_.HeldOf(job, labels);
  }
  // The value of a job; empty if it is not here.
  Bytes EncodedJob(JobId job) const { return reports_.EncodedJob(job); }
  std::vector<std::pair<Label, Value>> TakeResults(JobId job) {
    return completion_.TakeResults(job);
  }
  std::vector<JobSummary> Jobs(const JobQuery& query) const {
    return reports_.Jobs(query);
  }
  const JobIndex& job_index() const { return records_.index(); }
  // Jobs of a text that this agent's directory may hold values of.
  std::vector<StoredJob> StoredJobs(uint64_t text_hash) const {
    return reports_.StoredJobs(text_hash);
  }
  size_t active_count() const { return table_.size(); }  // not forgotten
  // The counts that an agent told last; it lives, or has left lately.
  std::vector<std::pair<JobId, JobStats>> StatsOf(AgentId agent) const {
    return stats_.Of(agent);
  }
  std::vector<JobId> RunIds() const { return table_.RunIds(); }
  const JobRun* FindRun(JobId job) const {  // null: it does not run here
    return table_.FindRun(job);
  }
  int64_t refused_count() const;  // messages that made no sense
  // Messages that were not sent, or came in part only.
  int64_t dropped_count() const { return mailbox_.dropped_count(); }
  int64_t bytes_sent() const { return mailbox_.bytes_sent(); }
  // See Mailbox.
  double LinkRate(AgentId to) const { return mailbox_.LinkRate(to); }
  int64_t messages_sent() const { return mailbox_.messages_sent(); }
  const Lending* lending() const { return context_.lending.get(); }

 private:
  void Dispatch(absl::Time now, AgentId from, uint8_t kind, JobId job,
                const Bytes& body);
  // A message of a job that has an entry here.
  void DispatchToJob(absl::Time now, AgentId from, uint8_t kind,
                     JobEntry& entry, const Bytes& body);
  void TakeCompletions(absl::Time now);
  void PollValues(absl::Time now);
  void TickRuns(absl::Time now);
  void RunHousekeeping(absl::Time now);

  // Each uses those above it, and none below.
  AgentContext context_;      // shared by all
  Mailbox mailbox_;           // messages in and out
  JobRecords records_;        // records of jobs, from membership gossip
  JobJournal journal_;        // what the directory has of jobs
  JobTable table_;            // jobs that are not forgotten
  JobTakers takers_;          // agents that run each job
  StatsGossip stats_;         // counts of all agents
  JobKernels kernels_;        // kernels being made
  JobInputs inputs_;          // large inputs of runs
  JobLifecycle lifecycle_;    // begin and end of runs
  JobExchange exchange_;      // job values between agents
  JobCompletion completion_;  // results for clients, and DONE without one
  JobLoans loans_;            // values lent on this host
  MembershipChanges changes_;
  ResultKeepers keepers_;
  Departure departure_;
  JobReports reports_;
  // Written by RunOnce() alone.
  bool had_news_ = false;  // in the last pass
  absl::Time next_wake_ = absl::InfinitePast();
  absl::Time next_housekeeping_ = absl::InfinitePast();
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_AGENT_H_

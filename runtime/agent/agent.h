// Agent: the protocol machines of one process that takes part, and the order in
// which a pass of the loop runs them. The world enters through the ports, so
// the simulation runs this very code.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_AGENT_H_
#define DOGGED_RUNTIME_AGENT_AGENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "routing/membership/membership.h"
#include "routing/memory/shared_memory.h"
#include "routing/multicast/multicast.h"
#include "routing/transport/outbox.h"
#include "routing/transport/packing.h"
#include "routing/transport/transport.h"
#include "runtime/agent/agent_options.h"
#include "runtime/agent/job_entry.h"
#include "runtime/agent/job_index.h"
#include "runtime/agent/job_record.h"
#include "runtime/agent/job_tools.h"
#include "runtime/agent/troubles.h"
#include "runtime/base/bytes.h"
#include "runtime/base/limits.h"
#include "runtime/exec/background.h"
#include "runtime/exec/executor.h"
#include "runtime/graph/job.h"

namespace dogged {

class Agent {
 public:
  // The ports outlive the agent.
  Agent(AgentOptions options, Transport& transport, Executor& executor,
        Background& background, JobTools tools);
  // Kernels that run are stopped.
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Makes a pass: arrivals, completions, ticks, new work, sends; in this order.
  void RunOnce(absl::Time now);
  // Time of the next RunOnce() if nothing arrives.
  absl::Time next_wake() const { return next_wake_; }
  // The last pass brought messages or completions and a worker is idle: the
  // next message may be close, and polling for it takes no core from a task.
  bool ExpectsMore() const {
    return (!arrivals_.empty() || had_completions_) && !executor_.LooksOut() &&
           executor_.unfinished_count() < executor_.worker_count();
  }

  // --- membership
  AgentId id() const { return options_.self.id; }
  // To join: give the Snapshot() of this agent to Admit() of another one, and
  // its answer, from control address `by`, to Join(); see Membership.
  std::string Snapshot() const { return membership_.Snapshot(); }
  absl::StatusOr<std::string> Admit(absl::Time now,
                                    absl::string_view snapshot) {
    return membership_.Admit(now, snapshot);
  }
  absl::StatusOr<AgentId> Join(absl::Time now, absl::string_view answer,
                               absl::string_view by) {
    return membership_.Absorb(now, answer, by, outbox_);
  }
  void NoteSettled() { has_settled_ = true; }  // contacts were asked
  // A life line to `peer` broke.
  void PeerDied(absl::Time now, AgentId peer, absl::string_view cause);
  // Lets running tasks end, tells all, hands over; IsGone() once that is done.
  void Leave(absl::Time now);
  bool IsGone() const { return gone_; }
  bool declared_dead() const { return membership_.declared_dead(); }
  const Membership& membership() const { return membership_; }
  const RoutingTable& routing_table() const { return multicast_.table(); }
  const Streams& streams() const { return multicast_.streams(); }
  std::vector<MembershipEvent> TakeEvents();  // since the last call

  // --- jobs
  // Takes a job to run. `encoded` is Job::Encode(). The same job under the
  // same submission changes nothing.
  //
  // The job begins, and is gossiped, once a second agent has it: IsTold().
  //
  // Errors: kInvalidArgument for no job; kAlreadyExists while a job of the same
  //         name with another text runs, as far as is known here.
  absl::StatusOr<JobId> Submit(absl::Time now, std::string encoded,
                               SubmissionId submission,
                               const JobOptions& options,
                               uint64_t text_hash = 0);
  // A new state of a known submission: done, cancelled, failed.
  bool IsTold(JobId job) const;
  void Conclude(absl::Time now, JobRecord record);
  // A client is there that has all inputs of the job, or none any more; the
  // chunks that it is to supply, and a supplied one. Errors: kNotFound without
  // such a job; kInvalidArgument for bytes that are not that chunk.
  void SetSupplier(JobId job, bool is_there);
  std::vector<ChunkId> TakeInputWishes(JobId job);
  absl::Status Supply(JobId job, const ChunkId& chunk, absl::string_view bytes);
  // For a new incarnation: submissions that run, and their jobs.
  std::vector<std::pair<JobRecord, Bytes>> RunningJobs() const;
  // For a new incarnation in the same process: state of a job, to be adopted
  // once the job runs there, else dropped.
  CarriedOver TakeCarriedOver(JobId job) const;
  void AdoptCarriedOver(absl::Time now, JobId job, const CarriedOver& carried);
  // Requests result labels for the client; see JobRun::Want().
  //
  // Errors: kNotFound without such a job; kUnavailable while its value is
  //         still being fetched.
  absl::Status Want(absl::Time now, JobId job, absl::Span<const Label> labels);
  std::vector<std::pair<Label, Value>> TakeResults(JobId job);
  std::vector<JobSummary> Jobs(const JobQuery& query) const;
  const JobIndex& job_index() const { return index_; }
  // Jobs of a text of which this agent's directory may hold values.
  std::vector<StoredJob> StoredJobs(uint64_t text_hash) const;
  size_t active_count() const { return jobs_.size(); }  // not forgotten
  // Stats that an agent published last; it lives, or has left lately.
  std::vector<std::pair<JobId, JobStats>> StatsOf(AgentId agent) const;
  std::vector<JobId> RunIds() const;
  const JobRun* FindRun(JobId job) const;  // null: it does not run here
  int64_t refused_count() const;           // messages that made no sense
  int64_t dropped_count() const;  // not sent, or of which not all has come
  int64_t bytes_sent() const { return packer_.bytes_sent(); }
  int64_t messages_sent() const { return packer_.messages_sent(); }
  const Lending* lending() const { return lending_.get(); }

 private:
  void Dispatch(absl::Time now, AgentId from, uint8_t kind, JobId job,
                const Bytes& body);
  void Count(const absl::Status& received);  // counts refused ones
  void HandleEvents(absl::Time now);
  void ReceiveLending(absl::Time now, AgentId from, uint8_t kind,
                      const Bytes& body);
  void ReceiveLoan(absl::Time now, AgentId from, JobRun& run,
                   const Bytes& body);
  void TickLending(absl::Time now);
  void ApplyRecord(absl::Time now, const JobRecord& record);
  // Applies a record of the job, as JobIndex has counted all of them.
  void ApplyAnyRecord(absl::Time now, const Digest& hash);
  // The newest records of a job's submissions that run.
  std::vector<JobRecord> RunningRecords(JobId job) const;
  std::optional<JobRecord> FindRecord(const std::string& key) const;
  JobEntry* FindEntry(absl::Time now, JobId job);
  void TellRounds(absl::Time now);  // how far loops have come, in records
  void RaiseRounds(const Digest& hash, JobRun& run) const;
  // --- job_lifecycle.cc
  void StartRun(absl::Time now, JobEntry& entry, const JobRecord& record);
  void MakeKernels(JobId id, std::shared_ptr<const Job> job);
  void TakeKernels();
  void FailJob(absl::Time now, JobId job, const absl::Status& status);
  std::string NoteOf(const JobEntry& entry) const;
  JobSummary Summarize(JobRecord record) const;
  void ForgetJobs(absl::Time now);  // that are over, results last
  void ForgetJob(JobId job);
  void EndRun(JobEntry& entry);  // its stats stay known
  void ApplySalts(absl::Time now, const std::string& key);
  // --- agent_values.cc: job values on their way, see job_values.h
  void RequestJobs(absl::Time now);
  void SendPart(AgentId to, JobId job, const Bytes& value, const Bytes& wish);
  void TakePart(absl::Time now, AgentId from, JobEntry& entry,
                const Bytes& part);
  std::vector<AgentId> Others() const;  // of the view
  // Offers of jobs that only one agent has.
  void OfferJobs(absl::Time now);
  void TakeOffer(absl::Time now, AgentId from, JobId job, const Bytes& body);
  void TellUntold(absl::Time now, JobEntry& entry);
  void DropOffers(absl::Time now);
  // Takes over large inputs of `job`, which is about to run.
  void TakeInputs(const Digest& hash, JobEntry& entry, Job& job);
  void ReceiveInputs(absl::Time now, AgentId from, JobId job, const Bytes&);
  void TickInputs(absl::Time now);
  // --- job_completion.cc: a job ends by itself once its results are durable
  void FinishJobs(absl::Time now);
  // None while some result is not known to be durable.
  std::optional<int64_t> DurableResultBytes(JobId job,
                                            const JobEntry& entry) const;
  void StartFinish(absl::Time now, JobId job, JobEntry& entry);
  void SortWanted(JobId job, JobEntry& entry);
  void TakeDigests(absl::Time now);
  void ConcludeDone(absl::Time now, JobId job, const Digest& digest,
                    absl::string_view message);

  // --- agent_troubles.cc
  // Agents may live that this one is cut off from, or has not met yet.
  bool MayHaveOthers() const;
  // Fails jobs that nobody has been able to run for too long.
  void CheckTakers(absl::Time now);
  void TellTroubles(absl::Time now);  // of runs
  void ApplyTrouble(absl::Time now, const std::string& key);
  void ReadTroubles(absl::Time now, JobEntry& entry);
  Troubles TroublesOfJob(const Digest& hash) const;
  void Place(absl::Time now, JobEntry& entry);  // unless nobody is left for it
  // Members of the job's numeric class; and those of them that run it.
  std::vector<const Member*> ClassOf(const Job& job) const;
  std::vector<const Member*> TakersOf(const Job& job, const Digest& hash) const;

  void PollValues(absl::Time now);
  void ReportFailures(absl::Time now);
  void RunHousekeeping(absl::Time now);
  void PublishStats();
  // --- agent_leave.cc
  void TakeLeave(absl::Time now);
  void EndLeave(absl::Time now);
  bool IsUnfetched(const JobEntry& entry) const;
  bool AwaitsKeepers(absl::Time now);  // of unfetched results
  // The members that run `job`, of its numeric class, and the salts of its
  // keys.
  PlacementView PlacementOf(const Job& job, const Digest& hash) const;
  // Other agents would take over the labels that are here.
  bool HasHeirs(const JobEntry& entry) const;

  const AgentOptions options_;
  Transport& transport_;
  Executor& executor_;
  Background& background_;
  const std::shared_ptr<const JobTools> tools_;
  Rng rng_;
  Membership membership_;
  Multicast multicast_;
  Packer packer_;
  Unpacker unpacker_;
  Outbox outbox_;
  std::unique_ptr<ValueStore> values_;  // null without an engine
  std::unique_ptr<Lending> lending_;    // null without shared memory
  absl::Time next_orphans_ = absl::InfinitePast();
  absl::btree_map<JobId, JobEntry> jobs_;
  JobIndex index_;  // of membership's records
  std::shared_ptr<const View> placed_view_;
  std::vector<MembershipEvent> events_;
  std::vector<Arrival> arrivals_;
  std::vector<Completion> completions_;
  bool had_completions_ = false;  // in the last pass
  std::vector<Message> messages_;
  absl::Time next_wake_ = absl::InfinitePast();
  absl::Time next_housekeeping_ = absl::InfinitePast();
  absl::Time leave_deadline_ = absl::InfiniteFuture();
  absl::Time next_asked_ = absl::InfinitePast();  // to keep results left here
  bool said_kept_ = false;
  bool draining_ = false;  // told to leave
  bool leaving_ = false;   // has told the others
  bool gone_ = false;
  bool has_lost_ = false;         // members that died
  bool has_lost_silent_ = false;  // of which nobody knows the end
  bool has_settled_;
  int64_t refused_count_ = 0;

  struct Loaded {
    JobId id;
    std::shared_ptr<const Job> job;
    absl::StatusOr<LoadedKernels> kernels;
  };
  struct Hashed {
    JobId id;
    std::shared_ptr<const Job> job;
    absl::StatusOr<Digest> digest;
  };
  // Products of background work; shared, as some may come after the agent's
  // end.
  std::shared_ptr<std::vector<Loaded>> loaded_ =
      std::make_shared<std::vector<Loaded>>();
  std::shared_ptr<std::vector<Hashed>> hashed_ =
      std::make_shared<std::vector<Hashed>>();
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_AGENT_H_

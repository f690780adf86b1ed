// Agent: one process taking part, without its process: all protocol machines,
// and the order in which one pass of the loop runs them. The world enters
// through the ports, so the simulation runs this very code.
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
#include "routing/membership.h"
#include "routing/multicast.h"
#include "routing/outbox.h"
#include "routing/packing.h"
#include "routing/shared_memory.h"
#include "routing/transport.h"
#include "runtime/agent/job_entry.h"
#include "runtime/agent/job_index.h"
#include "runtime/agent/job_record.h"
#include "runtime/agent/job_run.h"
#include "runtime/base/bytes.h"
#include "runtime/base/limits.h"
#include "runtime/exec/background.h"
#include "runtime/exec/executor.h"
#include "runtime/graph/job.h"

namespace dogged {

// Makes kernels of a job's kernel specifications: apps wires it to dsl. Called
// beside the loop.
using KernelLoader = std::function<absl::StatusOr<KernelTable>(const Job& job)>;
// The digest of a job's results, given the value of each result label.
using ResultHasher = std::function<absl::StatusOr<Digest>(
    const Program& program,
    const std::function<absl::StatusOr<Value>(const Label&)>& lookup)>;
struct JobTools {
  KernelLoader load_kernels;
  ResultHasher hash_results;
};

struct AgentOptions {
  Member self;
  // What this agent shares with others of its host; outlives the agent. Null:
  // every value travels as bytes.
  SharedMemory* shared_memory = nullptr;
  LendingOptions lending;
  MulticastPlan plan = MulticastPlan::kAuto;
  Limits limits;
  JobLimits job_limits;
  MembershipOptions membership;
  uint64_t seed = 1;
  // Where values go that do not fit into memory; outlives the agent. Null: no
  // value is ever written.
  Engine* engine = nullptr;
  // The engine stands on a directory of this agent's own: whatever it holds is
  // kept there too, and offered when a job runs again.
  bool keeps_values = false;
  // What the values of this agent take.
  std::function<int64_t()> live_bytes = Value::LiveBytes;
  // Called after a job's values were freed.
  std::function<void()> on_freed = [] {};
};

class Agent {
 public:
  // The ports outlive the agent.
  Agent(AgentOptions options, Transport& transport, Executor& executor,
        Background& background, JobTools tools);
  // Kernels that run are stopped.
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // One pass: arrivals, completions, ticks, new work, sends; in this order.
  void RunOnce(absl::Time now);
  // When RunOnce wants to be called again if nothing arrives.
  absl::Time next_wake() const { return next_wake_; }
  // The last pass brought something and a worker is idle: the next message may
  // be close, and whoever looks out for it takes no core from a task.
  bool ExpectsMore() const {
    return (!arrivals_.empty() || had_completions_) && !executor_.LooksOut() &&
           executor_.unfinished_count() < executor_.worker_count();
  }

  // --- membership
  AgentId id() const { return options_.self.id; }
  // To join: give the Snapshot() of the newcomer to Admit() of a member, then
  // the member's to Join() of the newcomer.
  std::string Snapshot() const { return membership_.Snapshot(); }
  absl::Status Admit(absl::Time now, absl::string_view snapshot) {
    return membership_.Admit(now, snapshot);
  }
  absl::Status Join(absl::Time now, absl::string_view snapshot);
  // A life line to `peer` broke.
  void PeerDied(absl::Time now, AgentId peer, absl::string_view cause);
  // Ends what runs here, starts nothing more, then tells all and hands over
  // what it holds. IsGone() once that is done.
  void Leave(absl::Time now);
  bool IsGone() const { return gone_; }
  bool declared_dead() const { return membership_.declared_dead(); }
  const Membership& membership() const { return membership_; }
  const RoutingTable& routing_table() const { return multicast_.table(); }
  const Streams& streams() const { return multicast_.streams(); }
  // Since the last call, for the loop: life lines, words for people.
  std::vector<MembershipEvent> TakeEvents();

  // --- jobs
  // Takes a job to run. `encoded` is Job::Encode(). The same job under the
  // same submission changes nothing.
  //
  // It begins, and others are told of it, once a second agent has it: IsTold().
  //
  // Errors: kInvalidArgument if `encoded` is no job; kAlreadyExists while a job
  //         of the same name with another text runs, as far as is known here.
  absl::StatusOr<JobId> Submit(absl::Time now, std::string encoded,
                               SubmissionId submission,
                               const JobOptions& options,
                               uint64_t text_hash = 0);
  // A new state of a known submission: done, cancelled, failed.
  bool IsTold(JobId job) const;
  void Conclude(absl::Time now, JobRecord record);
  // A client is there that has all inputs of the job, or none any more; what it
  // is to give, and what it gives. Errors: kNotFound without such a job;
  // kInvalidArgument for what is not that chunk.
  void SetSupplier(JobId job, bool is_there);
  std::vector<ChunkId> TakeInputWishes(JobId job);
  absl::Status Supply(JobId job, const ChunkId& chunk, absl::string_view bytes);
  // For a new incarnation: submissions that run, and their encoded jobs.
  std::vector<std::pair<JobRecord, Bytes>> RunningJobs() const;
  // The client's wish for result labels; see JobRun::Want().
  //
  // Errors: kNotFound without such a job; kUnavailable while its value is
  //         still being fetched.
  absl::Status Want(absl::Time now, JobId job, absl::Span<const Label> labels);
  std::vector<std::pair<Label, Value>> TakeWanted(JobId job);
  std::vector<JobSummary> Jobs(const JobQuery& query) const;
  const JobIndex& job_index() const { return index_; }
  // Jobs that are not over and forgotten: what a pass of the loop looks at.
  size_t active_count() const { return jobs_.size(); }
  // What another agent last said that it did: it lives, or has left lately.
  std::vector<std::pair<JobId, JobStats>> StatsOf(AgentId agent) const;
  std::vector<JobId> RunIds() const;
  // Null if the job is not known, or its value is not here.
  const JobRun* FindRun(JobId job) const;
  // Messages that were malformed, or contradicted what came before.
  int64_t refused_count() const;
  // Messages that were not sent, or of which not all has come.
  int64_t dropped_count() const;
  int64_t bytes_sent() const { return packer_.bytes_sent(); }
  const Lending* lending() const { return lending_.get(); }
  int64_t messages_sent() const { return packer_.messages_sent(); }

 private:
  using Entry = JobEntry;

  void Dispatch(absl::Time now, AgentId from, uint8_t kind, JobId job,
                const Bytes& body);
  void HandleEvents(absl::Time now);
  void ReceiveLending(absl::Time now, AgentId from, uint8_t kind,
                      const Bytes& body);
  void ReceiveLoan(absl::Time now, AgentId from, JobRun& run,
                   const Bytes& body);
  void TickLending(absl::Time now);
  void ApplyRecord(absl::Time now, const JobRecord& record);
  // One of the job's, as all of them count.
  void ApplyAnyRecord(absl::Time now, const Digest& hash);
  // The newest records of a job's submissions that run.
  std::vector<JobRecord> RunningRecords(JobId job) const;
  std::optional<JobRecord> FindRecord(const std::string& key) const;
  // Null if no record names the job. One that was forgotten begins again.
  Entry* FindEntry(absl::Time now, JobId job);
  // How far loops have come goes into their records, and from there to runs.
  void TellRounds(absl::Time now);
  void RaiseRounds(const Digest& hash, JobRun& run) const;
  // --- agent_jobs.cc
  void StartRun(absl::Time now, Entry& entry, const JobRecord& record);
  void MakeKernels(JobId id, std::shared_ptr<const Job> job);
  void TakeKernels(absl::Time now);
  // Fails jobs that nobody has been able to run for too long.
  void CheckNumericClasses(absl::Time now);
  void FailJob(absl::Time now, JobId job, const absl::Status& status);
  std::string NoteOf(const Entry& entry) const;
  JobSummary Summarize(JobRecord record) const;
  // Frees what jobs that are over hold, the results last.
  void ForgetJobs(absl::Time now);
  void ForgetJob(JobId job);
  void EndRun(Entry& entry);  // what it did stays known
  void ApplyHomes(absl::Time now, const std::string& key);  // see homes.h
  // --- agent_values.cc: job values on their way, see job_values.h
  void RequestJobs(absl::Time now);
  void SendPart(AgentId to, JobId job, const Bytes& value, const Bytes& wish);
  void TakePart(absl::Time now, AgentId from, Entry& entry, const Bytes& part);
  std::vector<AgentId> Others() const;  // of the view
  // A job that only this agent has, and word of it.
  void OfferJobs(absl::Time now);
  void TakeOffer(absl::Time now, AgentId from, JobId job, const Bytes& body);
  void TellUntold(absl::Time now, Entry& entry);
  void DropOffers(absl::Time now);
  // Large ones of `job`, which is about to run.
  void TakeInputs(const Digest& hash, Entry& entry, Job& job);
  void ReceiveInputs(absl::Time now, AgentId from, JobId job, const Bytes&);
  void TickInputs(absl::Time now);
  // --- agent_finish.cc
  // A job ends by itself once its results are durable.
  void FinishJobs(absl::Time now);
  // None while some result is not known to be durable.
  std::optional<int64_t> DurableResultBytes(JobId job,
                                            const Entry& entry) const;
  void StartFinish(absl::Time now, JobId job, Entry& entry);
  void SortWanted(JobId job, Entry& entry);
  void TakeDigests(absl::Time now);
  void ConcludeDone(absl::Time now, JobId job, const Digest& digest,
                    absl::string_view message);

  void PollValues(absl::Time now);
  void ReportFailures(absl::Time now);
  void RefreshBlob(absl::Time now);
  void TellStats();
  void TakeLeave(absl::Time now);
  // Who takes part in running `job`: members of its numeric class; and where.
  PlacementView PlacementOf(const Job& job, const Digest& hash) const;
  // Somebody else would take over what this agent holds of the job.
  bool HasHeirs(const Entry& entry) const;

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
  absl::btree_map<JobId, Entry> jobs_;
  JobIndex index_;  // of membership's records
  std::shared_ptr<const View> placed_view_;
  std::vector<MembershipEvent> events_;
  std::vector<Arrival> arrivals_;
  std::vector<Completion> completions_;
  bool had_completions_ = false;  // in the last pass
  std::vector<Message> messages_;
  absl::Time next_wake_ = absl::InfinitePast();
  absl::Time next_blob_ = absl::InfinitePast();
  absl::Time leave_deadline_ = absl::InfiniteFuture();
  bool draining_ = false;  // told to leave
  bool leaving_ = false;   // has told the others
  bool gone_ = false;
  int64_t refused_count_ = 0;

  struct Loaded {
    JobId id;
    std::shared_ptr<const Job> job;
    absl::StatusOr<KernelTable> kernels;
  };
  struct Hashed {
    JobId id;
    std::shared_ptr<const Job> job;
    absl::StatusOr<Digest> digest;
  };
  // Where the background leaves what it made; what comes after the agent's end
  // finds nobody who looks.
  std::shared_ptr<std::vector<Loaded>> loaded_ =
      std::make_shared<std::vector<Loaded>>();
  std::shared_ptr<std::vector<Hashed>> hashed_ =
      std::make_shared<std::vector<Hashed>>();
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_AGENT_H_

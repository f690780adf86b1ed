// JobEntry: what an agent keeps of a job that a record has named, until some
// time after its end. Plain data, of JobTable; each group names the component
// that changes it.
#ifndef DOGGED_RUNTIME_AGENT_JOB_ENTRY_H_
#define DOGGED_RUNTIME_AGENT_JOB_ENTRY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "routing/membership/gossip_codec.h"
#include "runtime/agent/job_values.h"
#include "runtime/agent/records/job_record.h"
#include "runtime/agent/records/troubles.h"
#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/job.h"
#include "runtime/graph/kernel.h"
#include "runtime/job/context/job_stats.h"

namespace dogged {

class InputChunks;
class JobRun;

// Results on their way to one digest.
struct JobFinish {
  int64_t labels = 0;  // sets of results may overlap
  absl::flat_hash_map<Label, Value> found;
  bool is_hashing = false;
};

// A job value on its way from agent to agent.
struct JobOffer {
  // Records of submissions that nobody is told of yet, and where the job is to
  // run: others hear of them once a second agent has the job, or by then.
  std::vector<JobRecord> untold;
  std::optional<GossipRecord> untold_homes;
  absl::Time told_by = absl::InfiniteFuture();
  absl::Time next_offer = absl::InfinitePast();
  // The agent that has offered it, and until when it is kept without a record.
  AgentId offered_by;
  absl::Time offered_until = absl::InfinitePast();
};

// Runs and input chunks are only named here: most components that see entries
// need no more.
struct JobEntry {
  JobEntry();
  JobEntry(JobEntry&&) noexcept;
  JobEntry& operator=(JobEntry&&) noexcept;
  ~JobEntry();

  bool IsBeingWritten() const { return writer_hold.use_count() > 1; }

  Digest hash;

  // --- JobExchange
  Bytes encoded;  // empty until it has come
  ValuePull pull;
  JobOffer offer;

  // --- JobLifecycle
  std::shared_ptr<const Job> job;
  std::unique_ptr<JobRun> run;
  JobStats stats;  // of the run that has ended
  // Time since which no submission of the job runs, and whether its client has
  // told that it has the results. The job is forgotten some time later.
  absl::Time over_since = absl::InfiniteFuture();
  bool is_delivered = false;
  bool is_done = false;
  // Its results stay for so long from now, whoever has fetched them; as of the
  // last ForgetJobs().
  absl::Duration keep_left;
  // The job was done before this agent came, and all copies of a result have
  // died whose place is here now.
  bool is_needed_again = false;
  int64_t tasks_needed = 0;
  int64_t results_needed = 0;
  // Shared with each connection of a client that has its results written by
  // this agent: they stay while there is one, and the job is theirs to end. An
  // entry that was forgotten and made anew shares with those that came since.
  std::shared_ptr<const void> writer_hold = std::make_shared<bool>();
  // The newest round of a loop that its record names, and if it is the last.
  std::pair<int64_t, bool> round_told = {-1, false};

  // The reason for which results that were lost are not made again, of a job
  // that is over; else empty.
  std::string loss;
  // Its results were here, and were dropped for want of room.
  bool is_dropped = false;

  // --- ResultKeepers
  // Agents without a part in the job that were asked to begin one, when each
  // is asked again, and after what time from then on.
  struct Ask {
    absl::Time next = absl::InfinitePast();
    absl::Duration interval;
  };
  using Asked = absl::flat_hash_map<AgentId, Ask>;
  Asked asked_to_keep;

  // --- JobKernels
  // Outlives the run: tasks may be on workers when a job is cancelled.
  // Null until they are made, where the numeric class is another, and where a
  // job is over and only its results are kept.
  std::shared_ptr<const KernelTable> kernels;
  bool has_asked_for_kernels = false;  // of this run
  absl::Time kernels_due = absl::InfiniteFuture();

  // --- JobInputs
  // Null as long as no run needs it, or if all inputs travel in the job.
  std::unique_ptr<InputChunks> inputs;
  bool has_supplier = false;  // a client, see InputChunks

  // --- JobTakers
  Troubles troubles;  // those that count
  // Time since which no member can run the job.
  absl::Time unservable_since = absl::InfiniteFuture();

  // --- MembershipChanges
  absl::flat_hash_set<AgentId> leavers;  // of the time of `run`

  // --- JobCompletion
  // Labels that clients wait for, and values that have come for them.
  absl::flat_hash_set<Label> wanted;
  absl::flat_hash_set<Label> watched;  // likewise, if they are bound
  std::vector<std::pair<Label, Value>> found;
  // Time since which all results are durable, as far as this agent knows.
  absl::Time durable_since = absl::InfiniteFuture();
  // Fetches the results to take their digest; null when it does not.
  std::unique_ptr<JobFinish> finish;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_JOB_ENTRY_H_

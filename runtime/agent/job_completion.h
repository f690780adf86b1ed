// JobCompletion: how results reach clients, and how a job ends when no client
// is there to end it: all results are durable, so some agent fetches them,
// takes their digest and says DONE. Being wrong about durable is harmless: a
// result that is wanted later is made again.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_JOB_COMPLETION_H_
#define DOGGED_RUNTIME_AGENT_JOB_COMPLETION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/agent/agent_context.h"
#include "runtime/agent/job_entry.h"
#include "runtime/agent/job_lifecycle.h"
#include "runtime/agent/job_records.h"
#include "runtime/agent/job_table.h"
#include "runtime/agent/job_takers.h"
#include "runtime/agent/stats_gossip.h"
#include "runtime/base/hash.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/job.h"

namespace dogged {

class JobCompletion {
 public:
  JobCompletion(AgentContext& agent, const JobRecords& records, JobTable& table,
                const JobTakers& takers, const StatsGossip& stats,
                JobLifecycle& lifecycle)
      : agent_(agent),
        records_(records),
        table_(table),
        takers_(takers),
        stats_(stats),
        lifecycle_(lifecycle) {}
  JobCompletion(const JobCompletion&) = delete;
  JobCompletion& operator=(const JobCompletion&) = delete;

  // --- clients; see Agent
  absl::Status Want(absl::Time now, JobId job, absl::Span<const Label> labels);
  absl::Status Watch(absl::Time now, JobId job, absl::Span<const Label> labels);
  std::vector<Label> HeldOf(JobId job, absl::Span<const Label> labels) const;
  std::shared_ptr<const void> HoldForWriting(JobId job);
  std::vector<std::pair<Label, Value>> TakeResults(JobId job);

  // --- time
  // Takes what runs have found to those who wait for it.
  void SortResults();
  // Ends the jobs whose digest has been taken.
  void TakeDigests(absl::Time now);
  // Begins to take digests, where all results have been durable for a while.
  void FinishJobs(absl::Time now);

 private:
  struct Hashed {
    JobId id;
    std::shared_ptr<const Job> job;
    absl::StatusOr<Digest> digest;
  };

  // None while some result is not known to be durable.
  std::optional<int64_t> DurableResultBytes(JobId job,
                                            const JobEntry& entry) const;
  void StartFinish(absl::Time now, JobId job, JobEntry& entry);
  void SortResultsOf(JobId job, JobEntry& entry);

  AgentContext& agent_;
  const JobRecords& records_;
  JobTable& table_;
  const JobTakers& takers_;
  const StatsGossip& stats_;
  JobLifecycle& lifecycle_;
  // Filled by the background, emptied by TakeDigests(). Digests that are taken
  // after the agent's end stay there.
  std::shared_ptr<std::vector<Hashed>> hashed_ =
      std::make_shared<std::vector<Hashed>>();
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_JOB_COMPLETION_H_

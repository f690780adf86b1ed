// SimOutcome: how the run of a simulated cluster ended. Plain data.
#ifndef DOGGED_RUNTIME_SIM_OUTCOME_H_
#define DOGGED_RUNTIME_SIM_OUTCOME_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/agent/records/job_record.h"
#include "runtime/base/hash.h"
#include "runtime/base/label.h"
#include "runtime/job/context/job_stats.h"

namespace dogged {

struct SimOutcome {
  // kDeadlineExceeded if it hung, the job's failure if it failed.
  absl::Status status;
  std::map<Label, Digest> results;
  std::map<Label, Digest> later_results;  // of the last client
  JobRecord record;  // the last seen; only without a client
  uint64_t trace_digest = 0;
  JobStats stats;                     // over all agents that ever were
  std::vector<JobStats> agent_stats;  // of each of them
  int64_t tasks_needed = 0;
  int faults_injected = 0;
  int64_t messages = 0;
  absl::Duration elapsed;         // virtual
  int64_t held_labels_max = 0;    // at any agent, at any event
  absl::Duration leave_time_max;  // from being told to leave to being gone
  int64_t foreign_tasks = 0;      // run by agents of another numeric class
  int64_t foreign_labels = 0;     // held by them, at most
  int64_t sick_tasks = 0;         // run by sick agents
  int64_t live_bytes_max = 0;     // of values, likewise
  int64_t disk_bytes = 0;         // of all disks, at the end
  int64_t loans = 0;              // values lent to others of the host
  int64_t spared = 0;             // offered to agents that had them
  int64_t refused = 0;            // messages that made no sense
  // Labels that were made with several digests: all; and those of which the
  // client, its contact and the members that this one reaches know several
  // digests at the end.
  int64_t unequal_labels = 0;
  int64_t unequal_known = 0;
  // An agent has just failed the job, and the client was done first.
  bool is_failing = false;
  absl::Duration undisturbed;  // since a view changed, or a cut healed
  int64_t rebirths = 0;        // agents that went on as another incarnation
};

// The result digest of a simulated job record.
Digest DigestOfDigests(const std::map<Label, Digest>& digests);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_OUTCOME_H_

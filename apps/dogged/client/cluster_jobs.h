// The jobs of a cluster, as its agents tell of them. Pure functions.
#ifndef DOGGED_APPS_DOGGED_CLIENT_CLUSTER_JOBS_H_
#define DOGGED_APPS_DOGGED_CLIENT_CLUSTER_JOBS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/agent/loop/control.h"

namespace dogged {

// A job over all agents that answered, with all its running submissions; if
// none runs, one that has ended.
struct JobOverAll {
  std::map<SubmissionId, JobRecord> submissions;
  int64_t submission_count = 0;
  JobStats stats;
  int64_t tasks_needed = 0;
  std::string note;
  std::set<std::string> troubles;
  // Results that are kept: labels and bytes at all agents, and how long they
  // stay at least.
  int64_t kept_labels = 0;
  int64_t kept_bytes = 0;
  int64_t keep_left_ms = 0;
  int64_t results_needed = 0;  // 0: no live agent has had a part in it
};

// By hash.
std::map<std::string, JobOverAll> JobsOf(
    const std::vector<StatusReply>& replies);

// The submission that says how the job stands: one that runs, else one that
// got to its end, if possible without having been delivered, else one that
// failed.
const JobRecord& Foremost(const JobOverAll& job);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLIENT_CLUSTER_JOBS_H_

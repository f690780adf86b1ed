// NamedJob: the job that the first digits of a hash mean, as all commands take
// it that have nothing else of a job.
#ifndef DOGGED_APPS_DOGGED_CLIENT_NAMED_JOB_H_
#define DOGGED_APPS_DOGGED_CLIENT_NAMED_JOB_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/cluster_jobs.h"
#include "runtime/agent/records/job_record.h"
#include "runtime/base/hash.h"

namespace dogged {

// Digits of a job's hash that people see.
inline constexpr size_t kNameDigits = 12;

struct NamedJob {
  std::string hash;  // all digits
  JobOverAll job;

  const JobRecord& record() const { return Foremost(job); }
  // "3f2a91b0c1d2 (heat1d)".
  std::string ToWords() const;
};

// Errors: kNotFound for digits that no job of any cluster begins with.
absl::Status CheckDigits(absl::string_view digits, absl::string_view cluster);

// The one job whose hash begins with `digits`; of several, the one that runs,
// if `prefers_running` and only one does. `cluster` is for words, empty where
// agents are the client's own. Agents that have just started may have it on
// disk: waits for them to read that.
//
// Errors: kNotFound if that is none, or more than one, which it names;
//         kUnavailable if nobody answers.
absl::StatusOr<NamedJob> FindNamedJob(ClusterClient& client,
                                      absl::string_view digits,
                                      absl::string_view cluster,
                                      bool prefers_running = false);
// The job as agents tell of it; none if none does.
std::vector<NamedJob> NamedJobIn(const std::vector<StatusReply>& replies,
                                 const Digest& hash);
// The job now, from agents that answer; none if nobody does.
std::vector<NamedJob> PollNamedJob(ClusterClient& client, const Digest& hash);

// OK for a job that runs or is done; else why it ended: kResourceExhausted or
// kAborted.
absl::Status EndOf(const JobRecord& record);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLIENT_NAMED_JOB_H_

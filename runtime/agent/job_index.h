// JobIndex: what counts of all records of a job together, kept up as records
// come; the records themselves are membership's. Of a job that is over it is
// all that stays: some tens of bytes.
//
// A data structure. Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_JOB_INDEX_H_
#define DOGGED_RUNTIME_AGENT_JOB_INDEX_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "runtime/agent/job_record.h"
#include "runtime/base/hash.h"
#include "runtime/base/ids.h"

namespace dogged {

class JobIndex {
 public:
  // Over all submissions of a job.
  struct Known {
    Digest hash;
    int32_t running = 0;
    int32_t done = 0;
    int32_t delivered = 0;
    // How far a loop is known to have come, and if that is its last round.
    std::pair<int64_t, bool> round = {0, false};
    // What this agent did for it before it was forgotten; see Keep().
    std::string kept;
  };

  // The newest record of each submission counts, in whatever order they come.
  void Note(const JobRecord& record);
  // Null if no record names it.
  const Known* Find(JobId job) const;
  bool IsRunning(JobId job) const {
    const Known* known = Find(job);
    return known != nullptr && known->running > 0;
  }
  // Submissions that run: of all jobs, and of one.
  const absl::btree_set<std::pair<JobId, SubmissionId>>& running() const {
    return running_;
  }
  std::vector<SubmissionId> RunningOf(JobId job) const;

  // Counts of a job that is known, for FillIn(), in a few bytes.
  void Keep(JobId job, const JobStats& stats, int64_t tasks_needed,
            int64_t results_needed);
  // Fills in what was kept.
  void FillIn(JobSummary& summary) const;

 private:
  struct Submission {
    uint64_t version = 0;
    JobState state = JobState::kRunning;
    bool is_delivered = false;
  };
  void Count(const std::pair<JobId, SubmissionId>& name,
             const Submission& submission, int32_t by);

  absl::btree_map<JobId, Known> jobs_;
  absl::btree_map<std::pair<JobId, SubmissionId>, Submission> submissions_;
  absl::btree_set<std::pair<JobId, SubmissionId>> running_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_JOB_INDEX_H_

// JobRecords: the records of jobs, as this agent knows them. The records
// themselves travel with membership gossip, one a submission; an index of what
// all records of a job say together is kept up as they come. Only
// JobLifecycle notes records; other components look them up and publish.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_JOB_RECORDS_H_
#define DOGGED_RUNTIME_AGENT_JOB_RECORDS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/agent/agent_context.h"
#include "runtime/agent/records/job_index.h"
#include "runtime/agent/records/job_record.h"
#include "runtime/base/hash.h"

namespace dogged {

class JobRecords {
 public:
  explicit JobRecords(AgentContext& agent) : agent_(agent) {}
  JobRecords(const JobRecords&) = delete;
  JobRecords& operator=(const JobRecords&) = delete;

  const JobIndex& index() const { return index_; }
  // None if there is no such record, or none that can be read.
  std::optional<JobRecord> Find(absl::string_view key) const;
  // The first of a job's records, as all of them count.
  std::optional<JobRecord> AnyOf(const Digest& job) const;
  // The newest records of a job's submissions that run.
  std::vector<JobRecord> RunningOf(JobId job) const;
  // Tells all agents.
  void Publish(absl::Time now, const JobRecord& record);
  // For the index; see JobIndex.
  void Note(const JobRecord& record) { index_.Note(record); }
  void Keep(JobId job, const JobStats& stats, int64_t tasks_needed,
            int64_t results_needed) {
    index_.Keep(job, stats, tasks_needed, results_needed);
  }

 private:
  AgentContext& agent_;
  JobIndex index_;  // of membership's records
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_JOB_RECORDS_H_

// JobTable: the jobs that this agent has not forgotten. It finds an entry,
// makes one and drops one; the components that entries name change what is in
// them. Jobs are visited in the order of their IDs.
//
// A data structure. Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_JOB_TABLE_H_
#define DOGGED_RUNTIME_AGENT_JOB_TABLE_H_

#include <cstddef>
#include <map>
#include <vector>

#include "absl/time/time.h"
#include "runtime/agent/job_entry.h"
#include "runtime/agent/job_records.h"

namespace dogged {

class JobTable {
 public:
  using Jobs = std::map<JobId, JobEntry>;

  explicit JobTable(const JobRecords& records) : records_(records) {}
  // Kernels that run are stopped.
  ~JobTable();
  JobTable(const JobTable&) = delete;
  JobTable& operator=(const JobTable&) = delete;

  // Null if there is none.
  JobEntry* Find(JobId job);
  const JobEntry* Find(JobId job) const;
  JobRun* FindRun(JobId job) const;  // null: it does not run here
  // The entry of a job that a record names; a job that was forgotten gets one
  // again, as over. Null if no record names it.
  JobEntry* FindNamed(absl::Time now, JobId job);
  JobEntry& FindOrMake(JobId job) { return jobs_[job]; }
  void Erase(JobId job) { jobs_.erase(job); }

  size_t size() const { return jobs_.size(); }
  std::vector<JobId> RunIds() const;
  Jobs::iterator begin() { return jobs_.begin(); }
  Jobs::iterator end() { return jobs_.end(); }
  Jobs::const_iterator begin() const { return jobs_.begin(); }
  Jobs::const_iterator end() const { return jobs_.end(); }

 private:
  const JobRecords& records_;
  Jobs jobs_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_JOB_TABLE_H_

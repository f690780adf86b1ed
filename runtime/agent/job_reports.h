// JobReports: answers to those who ask about jobs: a client that wants their
// state, a new incarnation that wants to know what ran. Reads all components of
// a job and changes none.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_JOB_REPORTS_H_
#define DOGGED_RUNTIME_AGENT_JOB_REPORTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kvstore/storage/value_store.h"
#include "runtime/agent/agent_context.h"
#include "runtime/agent/job_entry.h"
#include "runtime/agent/job_records.h"
#include "runtime/agent/job_table.h"
#include "runtime/agent/records/job_journal.h"
#include "runtime/agent/records/job_record.h"
#include "runtime/base/bytes.h"

namespace dogged {

class JobReports {
 public:
  JobReports(const AgentContext& agent, const JobRecords& records,
             const JobJournal& journal, const JobTable& table)
      : agent_(agent), records_(records), journal_(journal), table_(table) {}
  JobReports(const JobReports&) = delete;
  JobReports& operator=(const JobReports&) = delete;

  // A job is done once this agent's directory, if it has one, says so: else it
  // would begin again if all agents died now.
  std::vector<JobSummary> Jobs(const JobQuery& query) const;
  // Submissions that run, and their jobs.
  std::vector<std::pair<JobRecord, Bytes>> RunningJobs() const;
  // The value of a job; empty if it is not here.
  Bytes EncodedJob(JobId job) const;
  // Jobs of a text that the agent's directory may hold values of.
  std::vector<StoredJob> StoredJobs(uint64_t text_hash) const;

 private:
  JobSummary Summarize(JobRecord record) const;
  std::string NoteOf(const JobEntry& entry) const;

  const AgentContext& agent_;
  const JobRecords& records_;
  const JobJournal& journal_;
  const JobTable& table_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_JOB_REPORTS_H_

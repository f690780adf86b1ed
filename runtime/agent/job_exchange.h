// JobExchange: how job values get from clients to agents and from agent to
// agent. An agent that was given a job offers it to others before it tells of
// it, so that the job outlives that agent; an agent that hears of a job asks
// others for its value, part by part (job_values.h). A job that the agent's
// directory has goes on as if another agent had told of it.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_JOB_EXCHANGE_H_
#define DOGGED_RUNTIME_AGENT_JOB_EXCHANGE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/agent/agent_context.h"
#include "runtime/agent/job_entry.h"
#include "runtime/agent/job_lifecycle.h"
#include "runtime/agent/job_records.h"
#include "runtime/agent/job_table.h"
#include "runtime/agent/job_takers.h"
#include "runtime/agent/records/job_journal.h"
#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"
#include "runtime/base/ids.h"
#include "runtime/job/context/job_options.h"

namespace dogged {

class JobExchange {
 public:
  struct Parts {
    JobRecords& records;
    JobJournal& journal;
    JobTable& table;
    const JobTakers& takers;
    JobLifecycle& lifecycle;
  };
  JobExchange(AgentContext& agent, const Parts& parts)
      : agent_(agent),
        records_(parts.records),
        journal_(parts.journal),
        table_(parts.table),
        takers_(parts.takers),
        lifecycle_(parts.lifecycle) {}
  JobExchange(const JobExchange&) = delete;
  JobExchange& operator=(const JobExchange&) = delete;

  // --- a client; see Agent
  absl::StatusOr<JobId> Submit(absl::Time now, std::string encoded,
                               SubmissionId submission,
                               const JobOptions& options, uint64_t text_hash);
  bool IsTold(JobId job) const;

  // --- the directory
  // Jobs that it has, once they were read and other agents were looked for:
  // those that run go on, those that are done keep their results, and the rest
  // is erased.
  void AdoptStored(absl::Time now);
  // It may have jobs that are not known here yet.
  bool ReadsDirectory() const;

  // --- job values
  // Asks for those that are not here.
  void RequestJobs(absl::Time now);
  // Answers the request `wish` with a part of `value`; with no value, that this
  // agent lacks it.
  void SendPart(AgentId to, JobId job, const Bytes& value, const Bytes& wish);
  void TakePart(absl::Time now, AgentId from, JobEntry& entry,
                const Bytes& part);

  // --- jobs that only this agent has, and word of them
  void OfferJobs(absl::Time now);
  void TakeOffer(absl::Time now, AgentId from, JobId job, const Bytes& body);
  // Another agent has the job of `entry`.
  void TellUntold(absl::Time now, JobEntry& entry);
  // Drops jobs that were offered and whose records never came.
  void DropOffers(absl::Time now);

 private:
  // Errors: kAlreadyExists while a job of that name with another text runs.
  absl::Status CheckName(const JobRecord& record) const;
  // Records of the directory, by job.
  using Stored = std::map<Digest, std::vector<JobJournal::Found>>;
  // A job with these records runs, or keeps results.
  bool IsWanted(const std::vector<JobJournal::Found>& found) const;
  void AdoptFound(absl::Time now);
  void AdoptJob(absl::Time now, const std::vector<JobJournal::Found>& found,
                const Bytes& encoded);

  AgentContext& agent_;
  JobRecords& records_;
  JobJournal& journal_;
  JobTable& table_;
  const JobTakers& takers_;
  JobLifecycle& lifecycle_;
  Stored returning_;  // whose values are being read
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_JOB_EXCHANGE_H_

// JobLifecycle: a job from its first record to the time when it is forgotten.
// Records that come start its run, raise the rounds of a loop, and end it; the
// end of a submission is told in a record of this agent. A job that is over
// keeps its results for clients for a while.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_JOB_LIFECYCLE_H_
#define DOGGED_RUNTIME_AGENT_JOB_LIFECYCLE_H_

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/agent/agent_context.h"
#include "runtime/agent/job_entry.h"
#include "runtime/agent/job_inputs.h"
#include "runtime/agent/job_kernels.h"
#include "runtime/agent/job_records.h"
#include "runtime/agent/job_table.h"
#include "runtime/agent/job_takers.h"
#include "runtime/agent/mailbox.h"
#include "runtime/agent/records/job_journal.h"
#include "runtime/agent/records/job_record.h"
#include "runtime/base/hash.h"

namespace dogged {

class JobLifecycle {
 public:
  struct Parts {
    Mailbox& mailbox;
    JobRecords& records;
    JobJournal& journal;
    JobTable& table;
    JobTakers& takers;
    JobKernels& kernels;
    JobInputs& inputs;
  };
  JobLifecycle(AgentContext& agent, const Parts& parts)
      : agent_(agent),
        mailbox_(parts.mailbox),
        records_(parts.records),
        journal_(parts.journal),
        table_(parts.table),
        takers_(parts.takers),
        kernels_(parts.kernels),
        inputs_(parts.inputs) {}
  JobLifecycle(const JobLifecycle&) = delete;
  JobLifecycle& operator=(const JobLifecycle&) = delete;

  // A record has come, from whatever agent.
  void Apply(absl::Time now, const JobRecord& record);
  // Likewise, of the records that are known of `job`.
  void ApplyAny(absl::Time now, const Digest& job);
  // Tells all of a record, which is this agent's, and applies it.
  void PublishAndApply(absl::Time now, const JobRecord& record);
  // A new state of a known submission: done, cancelled, failed.
  void Conclude(absl::Time now, JobRecord record);
  // All submissions of `job` that run have failed, or are done.
  void Fail(absl::Time now, JobId job, const absl::Status& status);
  void ConcludeDone(absl::Time now, JobId job, const Digest& digest,
                    absl::string_view message);

  // How long after its end results of a job that is done stay.
  absl::Duration KeptTimeOf(JobId job) const;
  // Nothing but the records of the job stays on disk.
  void EraseFromDisk(const Digest& job);

  // A demand came for a job that does not run here.
  void NoteDemand(JobEntry& entry) {
    entry.is_needed_again |= entry.is_done && !entry.is_delivered;
  }
  // Another agent asks this one to keep results of `job`, with `body` of
  // kKeepResults. An agent that has dropped them for want of room, or forgotten
  // the job, does not begin again.
  void NoteKeepResults(absl::Time now, JobId job, absl::string_view body);
  // Tells how far loops have come, in records.
  void TellRounds(absl::Time now);
  // Jobs whose run or inputs have failed, fail.
  void ReportFailures(absl::Time now);
  // Forgets jobs that are over, results last. Jobs that are kept for a time
  // stay until its end, but where they take too much the oldest go: of the job
  // stays what makes them again.
  void ForgetJobs(absl::Time now);

 private:
  void StartRun(absl::Time now, JobEntry& entry, const JobRecord& record);
  void EndRun(JobEntry& entry);  // its counts stay known
  // Notes how long its results stay, and returns for how long after its end.
  absl::Duration NoteKeep(absl::Time now, JobEntry& entry) const;
  void RaiseRounds(const Digest& hash, JobRun& run) const;
  void Forget(absl::Time now, JobId job);
  void DropKept(absl::Time now, std::vector<std::pair<absl::Time, JobId>> kept);

  AgentContext& agent_;
  Mailbox& mailbox_;
  JobRecords& records_;
  JobJournal& journal_;
  JobTable& table_;
  JobTakers& takers_;
  JobKernels& kernels_;
  JobInputs& inputs_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_JOB_LIFECYCLE_H_

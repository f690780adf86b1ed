// JobKernels: the kernels of the jobs that run here. They are made beside the
// loop, from the job's kernel specifications, and given to the run once they
// are there. An agent whose kernels take too long, or can't be made, leaves the
// job to others.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_JOB_KERNELS_H_
#define DOGGED_RUNTIME_AGENT_JOB_KERNELS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/agent/agent_context.h"
#include "runtime/agent/job_entry.h"
#include "runtime/agent/job_table.h"
#include "runtime/agent/job_tools.h"
#include "runtime/base/ids.h"
#include "runtime/graph/job.h"

namespace dogged {

class JobKernels {
 public:
  JobKernels(AgentContext& agent, JobTable& table)
      : agent_(agent), table_(table) {}
  JobKernels(const JobKernels&) = delete;
  JobKernels& operator=(const JobKernels&) = delete;

  // Has kernels made for `entry`, once, if it has none and this agent's numeric
  // class is the job's.
  void Prepare(absl::Time now, JobId job, JobEntry& entry);
  // Gives kernels that were made to their runs.
  void TakeMade();
  // Has kernels made for runs whose tasks wait for some. Runs that have waited
  // too long for kernels suffer.
  void CheckDue(absl::Time now);
  // Ends what runs; another run makes kernels anew.
  void Stop(JobEntry& entry);

 private:
  struct Made {
    JobId id;
    std::shared_ptr<const Job> job;
    absl::StatusOr<LoadedKernels> kernels;
  };

  AgentContext& agent_;
  JobTable& table_;
  // Filled by the background, emptied by TakeMade(). Kernels that are made
  // after the agent's end stay there.
  std::shared_ptr<std::vector<Made>> made_ =
      std::make_shared<std::vector<Made>>();
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_JOB_KERNELS_H_

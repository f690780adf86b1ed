// JobInputs: the large inputs of the jobs that run here. A job whose inputs are
// in chunks gets an InputChunks when its run begins; messages, clients and time
// are passed on to it. Requests for jobs that are not here are answered, too.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_JOB_INPUTS_H_
#define DOGGED_RUNTIME_AGENT_JOB_INPUTS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/agent/agent_context.h"
#include "runtime/agent/job_entry.h"
#include "runtime/agent/job_table.h"
#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"
#include "runtime/graph/job.h"

namespace dogged {

class JobInputs {
 public:
  JobInputs(AgentContext& agent, JobTable& table)
      : agent_(agent), table_(table) {}
  JobInputs(const JobInputs&) = delete;
  JobInputs& operator=(const JobInputs&) = delete;

  // Opens those of `job`, the value of `entry`, which is about to run.
  void Open(JobEntry& entry, Job& job);
  void Receive(absl::Time now, AgentId from, JobId job, const Bytes& body);
  void Tick(absl::Time now);

  // --- a client that has all inputs; see Agent
  void SetSupplier(JobId job, bool is_there);
  std::vector<ChunkId> TakeWishes(JobId job);
  absl::Status Supply(JobId job, const ChunkId& chunk, absl::string_view bytes);

 private:
  InputChunks* Find(JobId job);  // null: none runs here
  // A program is often run with other parameters over the same inputs.
  void AdoptFromOthers(InputChunks& inputs);

  AgentContext& agent_;
  JobTable& table_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_JOB_INPUTS_H_

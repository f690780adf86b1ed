// JobLoans: values of jobs that agents of one host lend each other. A loan of a
// label's value is borrowed and given to the job's run, in place of the bytes;
// values whose owner has gone are copied, some at a time. Does nothing without
// shared memory.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_JOB_LOANS_H_
#define DOGGED_RUNTIME_AGENT_JOB_LOANS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "runtime/agent/agent_context.h"
#include "runtime/agent/job_table.h"
#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"

namespace dogged {

class JobLoans {
 public:
  JobLoans(AgentContext& agent, JobTable& table)
      : agent_(agent), table_(table) {}
  JobLoans(const JobLoans&) = delete;
  JobLoans& operator=(const JobLoans&) = delete;

  // Word about loans as such.
  void Receive(absl::Time now, AgentId from, uint8_t kind, const Bytes& body);
  // A label of `run` lies with `from`.
  void ReceiveLoan(absl::Time now, AgentId from, JobRun& run,
                   const Bytes& body);
  void Tick(absl::Time now);

 private:
  AgentContext& agent_;
  JobTable& table_;
  absl::Time next_orphans_ = absl::InfinitePast();
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_JOB_LOANS_H_

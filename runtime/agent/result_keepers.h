// ResultKeepers: keeps results of jobs that are over on as many agents as they
// are to be on. Homes of labels are among all members, also among those that
// came after the end of a job and have no part in it: an agent that holds
// results asks them to begin one. Copies then follow as in a job that runs.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_RESULT_KEEPERS_H_
#define DOGGED_RUNTIME_AGENT_RESULT_KEEPERS_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/agent/agent_context.h"
#include "runtime/agent/job_entry.h"
#include "runtime/agent/job_records.h"
#include "runtime/agent/job_table.h"
#include "runtime/agent/job_takers.h"
#include "runtime/agent/stats_gossip.h"
#include "runtime/base/ids.h"

namespace dogged {

class ResultKeepers {
 public:
  // Other agents that can take values of a job and stay, as far as is known
  // here, and how many of them have begun their part.
  struct Heirs {
    int count = 0;
    int begun = 0;
    std::vector<AgentId> idle;  // that have not
  };

  ResultKeepers(AgentContext& agent, const JobRecords& records, JobTable& table,
                const JobTakers& takers, const StatsGossip& stats)
      : agent_(agent),
        records_(records),
        table_(table),
        takers_(takers),
        stats_(stats) {}
  ResultKeepers(const ResultKeepers&) = delete;
  ResultKeepers& operator=(const ResultKeepers&) = delete;

  // The job of `entry` is done, and results of it that are to stay are here.
  bool HasKept(const JobEntry& entry) const;
  // The reason for which they are to stay, for people.
  static std::string WhyKept(const JobEntry& entry);
  Heirs HeirsOf(JobId job, const JobEntry& entry) const;
  // Asks each of `agents` to begin a part in the job of `entry`.
  void Ask(absl::Time now, const JobEntry& entry,
           absl::Span<const AgentId> agents);
  // Asks the members that have no part yet, less and less often.
  void Tick(absl::Time now);

 private:
  AgentContext& agent_;
  const JobRecords& records_;
  JobTable& table_;
  const JobTakers& takers_;
  const StatsGossip& stats_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_RESULT_KEEPERS_H_

// StatsGossip: what agents say that they did for jobs, and that they are about
// to leave. Each agent publishes the counts of its runs as its payload of
// membership gossip, and reads those of the others. An agent that has left
// still counts, for runs of its time.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_STATS_GOSSIP_H_
#define DOGGED_RUNTIME_AGENT_STATS_GOSSIP_H_

#include <utility>
#include <vector>

#include "runtime/agent/agent_context.h"
#include "runtime/agent/job_table.h"
#include "runtime/base/ids.h"
#include "runtime/job/context/job_stats.h"

namespace dogged {

class StatsGossip {
 public:
  StatsGossip(AgentContext& agent, const JobTable& table)
      : agent_(agent), table_(table) {}
  StatsGossip(const StatsGossip&) = delete;
  StatsGossip& operator=(const StatsGossip&) = delete;

  // Says what runs here have done.
  void Publish();
  // The newest that `agent` has said; it lives, or has left lately.
  std::vector<std::pair<JobId, JobStats>> Of(AgentId agent) const;
  // That agent was told to leave, as far as is known here.
  bool IsDraining(AgentId agent) const;

 private:
  struct Said {
    std::vector<std::pair<JobId, JobStats>> stats;
    bool is_draining = false;
  };
  Said SaidBy(AgentId agent) const;

  AgentContext& agent_;
  const JobTable& table_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_STATS_GOSSIP_H_

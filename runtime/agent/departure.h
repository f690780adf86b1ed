// Departure: how an agent leaves. It ends what runs, waits until other agents
// keep results of jobs that are over and that no client has fetched, tells the
// others, and hands over. Each of these steps has a bound on its time.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_DEPARTURE_H_
#define DOGGED_RUNTIME_AGENT_DEPARTURE_H_

#include "absl/time/time.h"
#include "runtime/agent/agent_context.h"
#include "runtime/agent/job_entry.h"
#include "runtime/agent/job_records.h"
#include "runtime/agent/job_table.h"
#include "runtime/agent/job_takers.h"
#include "runtime/agent/stats_gossip.h"

namespace dogged {

class Departure {
 public:
  Departure(AgentContext& agent, const JobRecords& records, JobTable& table,
            const JobTakers& takers, StatsGossip& stats)
      : agent_(agent),
        records_(records),
        table_(table),
        takers_(takers),
        stats_(stats) {}
  Departure(const Departure&) = delete;
  Departure& operator=(const Departure&) = delete;

  // Told to leave.
  void Begin(absl::Time now);
  // Takes leave once nothing keeps the agent; true if that was just now: the
  // view is another.
  bool TakeLeave(absl::Time now);
  // Goes once all is handed over.
  void End(absl::Time now);

 private:
  // Whether others have what no client has fetched, or can be given it.
  bool AwaitsKeepers(absl::Time now);
  bool IsUnfetched(const JobEntry& entry) const;

  AgentContext& agent_;
  const JobRecords& records_;
  JobTable& table_;
  const JobTakers& takers_;
  StatsGossip& stats_;
  absl::Time deadline_ = absl::InfiniteFuture();
  absl::Time next_asked_ = absl::InfinitePast();  // to keep results left here
  bool said_kept_ = false;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_DEPARTURE_H_

// Departure: how an agent leaves. It ends what runs, waits until another agent
// can take values of jobs that run, and until others keep results that are to
// stay of jobs that are over, tells the others, and hands over. Where there is
// no other, its directory takes the place of one. Each of these steps has a
// bound on its time, and all of them have AgentOptions::leave_within.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_DEPARTURE_H_
#define DOGGED_RUNTIME_AGENT_DEPARTURE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/agent/agent_context.h"
#include "runtime/agent/job_table.h"
#include "runtime/agent/job_takers.h"
#include "runtime/agent/result_keepers.h"
#include "runtime/agent/stats_gossip.h"

namespace dogged {

class Departure {
 public:
  Departure(AgentContext& agent, JobTable& table, const JobTakers& takers,
            StatsGossip& stats, ResultKeepers& keepers)
      : agent_(agent),
        table_(table),
        takers_(takers),
        stats_(stats),
        keepers_(keepers) {}
  Departure(const Departure&) = delete;
  Departure& operator=(const Departure&) = delete;

  // Told to leave. With `why` the log says that, and what came of it.
  void Begin(absl::Time now, absl::string_view why);
  // Told again: waits for nobody any more, and goes within a second or two.
  void Hurry(absl::Time now);
  // Takes leave once nothing keeps the agent; true if that was just now: the
  // view is another.
  bool TakeLeave(absl::Time now);
  // Goes once all is handed over.
  void End(absl::Time now);

 private:
  // Whether others have what is to stay of jobs that are over, or can be given
  // it.
  bool AwaitsKeepers(absl::Time now);
  // Whether an agent may still come, or begin, that takes values of a job that
  // runs: without one they are lost, and the job with them.
  bool AwaitsHeirs(absl::Time now);
  // Whether it is too early to count on `heirs`, for they may have been told to
  // leave, too.
  bool ListensForOthers(absl::Time now, const ResultKeepers::Heirs& heirs);
  // Whether the directory has yet to take what the entry holds; false without a
  // directory.
  bool AwaitsDirectory(JobEntry& entry);
  // Says what was handed to whom.
  void LogEnd(absl::Time now);
  // Waits for agents that are there, to begin what they are to take, until
  // then.
  absl::Time BeginLimit() const;

  AgentContext& agent_;
  JobTable& table_;
  const JobTakers& takers_;
  StatsGossip& stats_;
  ResultKeepers& keepers_;
  std::string why_;  // empty: the log says nothing
  absl::Time began_ = absl::InfiniteFuture();
  absl::Duration time_;  // that leaving may take
  absl::Time deadline_ = absl::InfiniteFuture();
  absl::Time next_asked_ = absl::InfinitePast();  // to keep results left here
  bool said_kept_ = false;
  bool said_awaits_ = false;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_DEPARTURE_H_

// RootDemand: what a job is run for, as far as this agent knows: its result
// labels, or the condition of a loop that may go on, and tasks of rounds that
// are not known to exist. docs/adr/0031-repeat-until.md.
//
// Plain data; JobRun keeps it.
#ifndef DOGGED_RUNTIME_AGENT_ROOT_DEMAND_H_
#define DOGGED_RUNTIME_AGENT_ROOT_DEMAND_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/agent/parked_tasks.h"
#include "runtime/graph/rounds.h"

namespace dogged {

struct RootDemand {
  explicit RootDemand(const Relations& relations) : rounds(relations) {}

  // What leaves may start: until this time.
  int64_t LeavesUntil() const {
    return rounds.IsLoop() ? rounds.time() : INT64_MAX;
  }

  Rounds rounds;
  bool has_news = false;             // of the rounds, not yet acted on
  int64_t leaves_until = INT64_MIN;  // leaves of earlier rounds were drawn
  ParkedTasks ahead;           // their inputs are at hand, their round is not
  std::vector<Label> results;  // those with their home here, shuffled
  size_t next_result = 0;
  bool is_demanded = true;  // the job runs
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_ROOT_DEMAND_H_

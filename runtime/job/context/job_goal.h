// JobGoal: what a job is run for, as far as this agent knows: its result
// labels, or the condition of a loop that may go on.
// ADR-26.
//
// Plain data.
#ifndef DOGGED_RUNTIME_JOB_CONTEXT_JOB_GOAL_H_
#define DOGGED_RUNTIME_JOB_CONTEXT_JOB_GOAL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/graph/rounds.h"

namespace dogged {

struct JobGoal {
  explicit JobGoal(const Relations& relations) : rounds(relations) {}

  // The time until which leaves may start.
  int64_t LeavesUntil() const {
    return rounds.IsLoop() ? rounds.time() : INT64_MAX;
  }

  Rounds rounds;
  bool has_news = false;             // of the rounds, not yet acted on
  int64_t leaves_until = INT64_MIN;  // leaves of earlier rounds were drawn
  std::vector<Label> results;        // with their home here, shuffled
  size_t next_result = 0;
  size_t results_bound = 0;  // of `results`, the first ones
  // After a death: the results from `next_result` on are to be searched from,
  // some whenever this agent has nothing else to do.
  bool searches_all = false;
  bool hears_search = false;         // another agent searches for certain
  std::vector<Label> other_results;  // with homes elsewhere, for walks
  bool is_demanded = true;           // the job runs
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_CONTEXT_JOB_GOAL_H_

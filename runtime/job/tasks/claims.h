// Claims: agents' statements, kept at a task's home, that they run the task.
// They only save work: losing or ignoring a claim costs a second run.
//
// A claim lives as long as its holder repeats it and is not forgotten. A claim
// not repeated within its timeout is overridden once, by the first agent that
// comes; each override of a task doubles the timeout of the next claim, so that
// slow tasks are not run again and again under load.
//
// A data structure: no messages; time is passed in. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_TASKS_CLAIMS_H_
#define DOGGED_RUNTIME_JOB_TASKS_CLAIMS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "runtime/base/ids.h"
#include "runtime/graph/task.h"

namespace dogged {

class Claims {
 public:
  // Beyond `count_max` nobody's claim is refused or kept.
  explicit Claims(int64_t count_max) : count_max_(count_max) {}

  // True if `holder` may run `task`: nobody else's claim lives. Repeats the
  // holder's own. `patience` is the timeout of a task's first claim.
  bool Take(absl::Time now, const Task& task, AgentId holder,
            absl::Duration patience);
  bool IsClaimed(absl::Time now, const Task& task) const;
  void Release(const Task& task) { claims_.erase(task); }
  // Drops the claims that `gone` says so of.
  void Forget(absl::FunctionRef<bool(const Task&, AgentId holder)> gone);
  int64_t size() const { return std::ssize(claims_); }

 private:
  struct Claim {
    AgentId holder;
    absl::Time repeated;
    absl::Duration patience;
  };
  const int64_t count_max_;
  absl::flat_hash_map<Task, Claim> claims_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_TASKS_CLAIMS_H_

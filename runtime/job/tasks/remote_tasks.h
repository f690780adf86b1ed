// RemoteTasks: tasks whose home is another agent and that are run here: a walk
// has found them, or their home has given them. Plain data.
#ifndef DOGGED_RUNTIME_JOB_TASKS_REMOTE_TASKS_H_
#define DOGGED_RUNTIME_JOB_TASKS_REMOTE_TASKS_H_

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"
#include "runtime/graph/task.h"

namespace dogged {

struct RemoteTask {
  Label wanted;  // the output for which it is to run
  absl::Time since;
  absl::Time asked;      // when its claim or its inputs were last asked for
  bool granted = false;  // by its home, or there was nobody to ask
  AgentId granter;       // its home, unless a walk found it
};

using RemoteTasks = absl::flat_hash_map<Task, RemoteTask>;

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_TASKS_REMOTE_TASKS_H_

// Warnings before a run: reasons why it will be slower than it might be. On
// standard error.
#ifndef DOGGED_APPS_DOGGED_RUN_RUN_WARNINGS_H_
#define DOGGED_APPS_DOGGED_RUN_RUN_WARNINGS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "apps/dogged/report/memory_check.h"
#include "apps/dogged/run/loaded_program.h"

namespace dogged {

// Warns where memory may be short. Errors: as CheckMemory().
absl::Status WarnOfMemory(const RunMemory& memory);
// Warns if a run with so many agents keeps fewer copies than --replicas says.
void WarnOfReplicas(int asked, int agents);
// Warns if many points are tasks of their own, of which several agents make
// little: `tasks` in all. Also if one process with `workers` takes long.
// Says in a line which tiles a program has that runs in tiles of loop nests.
void WarnOfPointTasks(const LoadedProgram& program, int64_t tasks, int agents,
                      int workers);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_RUN_WARNINGS_H_

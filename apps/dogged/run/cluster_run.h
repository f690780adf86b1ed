// A run on agents: our own, or a cluster that is there already.
#ifndef DOGGED_APPS_DOGGED_RUN_CLUSTER_RUN_H_
#define DOGGED_APPS_DOGGED_RUN_CLUSTER_RUN_H_

#include "absl/time/time.h"
#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"
#include "apps/dogged/run/loaded_program.h"
#include "apps/dogged/run/run_options.h"

namespace dogged {

// `program` has been compiled; `wall_start` is when the command began.
ExitCode RunOnCluster(const RunOptions& options, const LoadedProgram& program,
                      const KernelSource& kernels,
                      const Environment& environment, absl::Time wall_start);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_CLUSTER_RUN_H_

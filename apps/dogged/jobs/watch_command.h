// `dogged watch`: a line for each label of a job as it is bound.
#ifndef DOGGED_APPS_DOGGED_JOBS_WATCH_COMMAND_H_
#define DOGGED_APPS_DOGGED_JOBS_WATCH_COMMAND_H_

#include "apps/dogged/client/cluster_options.h"
#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"

namespace dogged {

ExitCode WatchCommand(const ClusterOptions& options,
                      const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_JOBS_WATCH_COMMAND_H_

// `dogged get`: the value of a label of a job now, from an agent that holds it.
#ifndef DOGGED_APPS_DOGGED_JOBS_GET_COMMAND_H_
#define DOGGED_APPS_DOGGED_JOBS_GET_COMMAND_H_

#include "apps/dogged/client/cluster_options.h"
#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"

namespace dogged {

ExitCode GetCommand(const ClusterOptions& options,
                    const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_JOBS_GET_COMMAND_H_

// `dogged wait`: until a job has ended.
#ifndef DOGGED_APPS_DOGGED_JOBS_WAIT_COMMAND_H_
#define DOGGED_APPS_DOGGED_JOBS_WAIT_COMMAND_H_

#include "apps/dogged/client/cluster_options.h"
#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"

namespace dogged {

ExitCode WaitCommand(const ClusterOptions& options,
                     const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_JOBS_WAIT_COMMAND_H_

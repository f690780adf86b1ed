// `dogged forget`: ends the time for which a job's results are kept.
#ifndef DOGGED_APPS_DOGGED_CLIENT_FORGET_COMMAND_H_
#define DOGGED_APPS_DOGGED_CLIENT_FORGET_COMMAND_H_

#include "apps/dogged/client/cluster_options.h"
#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"

namespace dogged {

ExitCode ForgetCommand(const ClusterOptions& options,
                       const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLIENT_FORGET_COMMAND_H_

// `dogged cancel`: ends a job.
#ifndef DOGGED_APPS_DOGGED_CLIENT_CANCEL_COMMAND_H_
#define DOGGED_APPS_DOGGED_CLIENT_CANCEL_COMMAND_H_

#include "apps/dogged/client/cluster_options.h"
#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"

namespace dogged {

ExitCode CancelCommand(const ClusterOptions& options,
                       const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLIENT_CANCEL_COMMAND_H_

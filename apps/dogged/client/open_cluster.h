// The cluster that a command is about, with the keys that it has.
#ifndef DOGGED_APPS_DOGGED_CLIENT_OPEN_CLUSTER_H_
#define DOGGED_APPS_DOGGED_CLIENT_OPEN_CLUSTER_H_

#include <memory>

#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/cluster_options.h"
#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"

namespace dogged {

// Null, with the error printed and `code` set, if the keys are unfit or no
// agent is reached.
std::unique_ptr<ClusterClient> OpenCluster(const ClusterOptions& options,
                                           const Environment& environment,
                                           ExitCode& code);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLIENT_OPEN_CLUSTER_H_

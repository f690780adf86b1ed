// The cluster that a command is about, with the keys that it has.
#ifndef DOGGED_APPS_DOGGED_CLIENT_OPEN_CLUSTER_H_
#define DOGGED_APPS_DOGGED_CLIENT_OPEN_CLUSTER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/cluster_options.h"
#include "apps/dogged/client/result_room.h"
#include "apps/dogged/process/environment.h"

namespace dogged {

// `room`: that results of a client which collects some have. Errors: kNotFound
// if the keys are unfit; as ClusterClient::Connect().
absl::StatusOr<std::unique_ptr<ClusterClient>> OpenCluster(
    const ClusterOptions& options, const Environment& environment,
    const ResultRoom* room = nullptr);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLIENT_OPEN_CLUSTER_H_

// Patience: how long a run outlives a pool without agents (--patience).
#ifndef DOGGED_APPS_DOGGED_RUN_PATIENCE_H_
#define DOGGED_APPS_DOGGED_RUN_PATIENCE_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/run/run_options.h"

namespace dogged {

// Attempts something again and again while that says kUnavailable, for so long;
// the first attempt is at once. `say` gets words once, before the second one.
// Errors: as of the last attempt; kCancelled if the run is interrupted.
absl::Status Outlive(absl::Duration patience,
                     absl::FunctionRef<absl::Status()> attempt,
                     absl::FunctionRef<void(absl::string_view words)> say);

// A client of the cluster of `options`, as soon as some agent answers there.
// Errors: as FindAgents() and ClusterClient::Connect().
absl::StatusOr<std::unique_ptr<ClusterClient>> ConnectPatiently(
    const RunOptions& options, const ClusterClient::Options& client_options);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_PATIENCE_H_

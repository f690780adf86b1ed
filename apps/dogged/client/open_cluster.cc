#include "apps/dogged/client/open_cluster.h"

#include <utility>

#include "apps/dogged/keys/key_choice.h"

namespace dogged {

absl::StatusOr<std::unique_ptr<ClusterClient>> OpenCluster(
    const ClusterOptions& options, const Environment& environment) {
  auto keys = OpenKeys(options.keys, environment);
  if (!keys.ok()) return absl::NotFoundError(keys.status().message());
  return ClusterClient::Connect({options.cluster},
                                {.patience = ClusterClient::kNamedPatience,
                                 .connect = ConnectWith(*std::move(keys))});
}

}  // namespace dogged

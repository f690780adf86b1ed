#include "apps/dogged/client/open_cluster.h"

#include <string>
#include <utility>
#include <vector>

#include "apps/dogged/client/find_agents.h"
#include "apps/dogged/keys/key_choice.h"
#include "runtime/base/status.h"

namespace dogged {

absl::StatusOr<std::unique_ptr<ClusterClient>> OpenCluster(
    const ClusterOptions& options, const Environment& environment,
    const ResultRoom* room) {
  auto keys = OpenCredentials(options.keys, environment);
  if (!keys.ok()) return absl::NotFoundError(keys.status().message());
  DOGGED_ASSIGN_OR_RETURN(std::vector<std::string> addresses,
                          FindAgents(options.cluster, *keys));
  ClusterClient::Options client{.patience = ClusterClient::kNamedPatience,
                                .connect = ConnectWith(*std::move(keys))};
  if (room != nullptr) {
    client.results_bytes_max = room->bytes_max;
    client.result_folders = room->folders;
  }
  return ClusterClient::Connect(std::move(addresses), std::move(client));
}

}  // namespace dogged

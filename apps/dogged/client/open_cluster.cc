#include "apps/dogged/client/open_cluster.h"

#include <utility>

#include "apps/dogged/keys/key_choice.h"
#include "apps/dogged/process/errors.h"

namespace dogged {

std::unique_ptr<ClusterClient> OpenCluster(const ClusterOptions& options,
                                           const Environment& environment,
                                           ExitCode& code) {
  auto keys = OpenKeys(options.keys, environment);
  if (!keys.ok()) {
    PrintError(keys.status().message());
    code = ExitCode::kMistyped;
    return nullptr;
  }
  auto client = ClusterClient::Connect(
      {options.cluster}, {.patience = ClusterClient::kNamedPatience,
                          .connect = ConnectWith(*std::move(keys))});
  if (client.ok()) return *std::move(client);
  code = PrintError(client.status());
  return nullptr;
}

}  // namespace dogged

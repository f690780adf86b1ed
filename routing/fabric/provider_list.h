// ProviderList: which providers libfabric has here, which one the transport
// takes, and why not the others. For people: `dogged version`, `dogged doctor`.
#ifndef DOGGED_ROUTING_FABRIC_PROVIDER_LIST_H_
#define DOGGED_ROUTING_FABRIC_PROVIDER_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dogged {

struct ProviderList {
  struct Provider {
    std::string name;  // "tcp"
    bool is_taken = false;
    std::string reason;  // why it is taken, or refused
  };
  std::string library;  // version of libfabric, "1.17.0"
  // The taken one first; nobody is taken if none serves.
  std::vector<Provider> providers;
  // Empty where strangers can be kept from a port, else the kernel's reason.
  std::string no_filter;
};

// A symbol of the module dogged_fabric. `host` is numeric.
using ListFabricProviders = void (*)(const std::string& host,
                                     ProviderList& out);
inline constexpr char kListFabricProvidersName[] =
    "dogged_list_fabric_providers";

// Asks the module in `folder`. Costs some 0.2 s. Errors: kUnavailable, naming
// the missing part.
absl::StatusOr<ProviderList> LoadProviderList(absl::string_view folder,
                                              const std::string& host);

}  // namespace dogged

#endif  // DOGGED_ROUTING_FABRIC_PROVIDER_LIST_H_

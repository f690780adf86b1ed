// Findings about what an agent needs beside Linux: its modules, libfabric's
// providers, OpenBLAS, a compiler, a port, keys.
#ifndef DOGGED_APPS_DOGGED_HOST_AGENT_FINDINGS_H_
#define DOGGED_APPS_DOGGED_HOST_AGENT_FINDINGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/dogged/host/finding.h"
#include "apps/dogged/keys/key_choice.h"
#include "apps/dogged/process/environment.h"
#include "routing/fabric/provider_list.h"

namespace dogged {

struct AgentPlace {
  std::string listen = "127.0.0.1:0";  // as --listen of an agent
  KeyChoice keys;
};

// The providers of the module of this program, for agents at `host`.
absl::StatusOr<ProviderList> ProvidersHere(const std::string& host);

// Compiles a kernel, listens at the port, and opens the key file, as an agent
// would.
std::vector<Finding> AgentFindings(const AgentPlace& place,
                                   const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_HOST_AGENT_FINDINGS_H_

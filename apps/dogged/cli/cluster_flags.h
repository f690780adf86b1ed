// The flags of commands about a cluster that have no program: `dogged status`,
// `dogged wait`, `dogged fetch` and others.
#ifndef DOGGED_APPS_DOGGED_CLI_CLUSTER_FLAGS_H_
#define DOGGED_APPS_DOGGED_CLI_CLUSTER_FLAGS_H_

#include <memory>
#include <string>

#include "apps/dogged/cli/command_flags.h"
#include "apps/dogged/process/environment.h"

namespace dogged {

// `environment` outlives it.
std::unique_ptr<CommandFlags> AddClusterFlags(CLI::App& app,
                                              const Environment& environment);
// The agent that `command` talks to, which it can't do without, and its keys.
void AddClusterOption(CLI::App& command, std::string& cluster, KeyChoice& keys);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_CLUSTER_FLAGS_H_

// The flags of `dogged status` and `dogged cancel`.
#ifndef DOGGED_APPS_DOGGED_CLI_CLUSTER_FLAGS_H_
#define DOGGED_APPS_DOGGED_CLI_CLUSTER_FLAGS_H_

#include <memory>

#include "apps/dogged/cli/command_flags.h"
#include "apps/dogged/process/environment.h"

namespace dogged {

std::unique_ptr<CommandFlags> AddClusterFlags(CLI::App& app,
                                              const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_CLUSTER_FLAGS_H_

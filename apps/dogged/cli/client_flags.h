// The flags of `dogged client`.
#ifndef DOGGED_APPS_DOGGED_CLI_CLIENT_FLAGS_H_
#define DOGGED_APPS_DOGGED_CLI_CLIENT_FLAGS_H_

#include <memory>

#include "apps/dogged/cli/command_flags.h"
#include "apps/dogged/process/environment.h"

namespace dogged {

// `environment` outlives it.
std::unique_ptr<CommandFlags> AddClientFlags(CLI::App& app,
                                             const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_CLIENT_FLAGS_H_

// Flags of `dogged key`.
#ifndef DOGGED_APPS_DOGGED_CLI_KEY_FLAGS_H_
#define DOGGED_APPS_DOGGED_CLI_KEY_FLAGS_H_

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/dogged/cli/command_flags.h"
#include "apps/dogged/process/environment.h"

namespace dogged {

// `app` and `environment` outlive it.
std::unique_ptr<CommandFlags> AddKeyFlags(CLI::App& app,
                                          const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_KEY_FLAGS_H_

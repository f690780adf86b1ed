// The flags of `dogged submit`.
#ifndef DOGGED_APPS_DOGGED_CLI_SUBMIT_FLAGS_H_
#define DOGGED_APPS_DOGGED_CLI_SUBMIT_FLAGS_H_

#include <memory>

#include "apps/dogged/cli/command_flags.h"
#include "apps/dogged/process/environment.h"

namespace dogged {

// `environment` outlives it.
std::unique_ptr<CommandFlags> AddSubmitFlags(CLI::App& app,
                                             const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_SUBMIT_FLAGS_H_

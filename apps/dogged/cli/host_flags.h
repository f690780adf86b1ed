// The flags of commands about this program and this host: `dogged version` and
// `dogged doctor`.
#ifndef DOGGED_APPS_DOGGED_CLI_HOST_FLAGS_H_
#define DOGGED_APPS_DOGGED_CLI_HOST_FLAGS_H_

#include <memory>

#include "apps/dogged/cli/command_flags.h"
#include "apps/dogged/process/environment.h"

namespace dogged {

std::unique_ptr<CommandFlags> AddVersionFlags(CLI::App& app);
// `environment` outlives it.
std::unique_ptr<CommandFlags> AddDoctorFlags(CLI::App& app,
                                             const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_HOST_FLAGS_H_

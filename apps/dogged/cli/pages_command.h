// `dogged pages`: man pages and completions of shells, for installations.
#ifndef DOGGED_APPS_DOGGED_CLI_PAGES_COMMAND_H_
#define DOGGED_APPS_DOGGED_CLI_PAGES_COMMAND_H_

#include <memory>

#include "apps/dogged/cli/command_flags.h"

namespace dogged {

// The command describes `app`, with all the commands that it has when it runs.
std::unique_ptr<CommandFlags> AddPagesFlags(CLI::App& app);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_PAGES_COMMAND_H_

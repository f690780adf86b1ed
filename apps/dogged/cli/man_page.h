// Man pages of commands, as roff. Pure functions.
#ifndef DOGGED_APPS_DOGGED_CLI_MAN_PAGE_H_
#define DOGGED_APPS_DOGGED_CLI_MAN_PAGE_H_

#include <string>

#include "apps/dogged/cli/command_description.h"

namespace dogged {

// dogged(1): all commands, variables and exit statuses. `version` is that of
// the program.
std::string MainManPage(const CommandDescription& all,
                        const std::string& version);
// "dogged-run", of a command.
std::string ManPageName(const CommandDescription& command);
std::string ManPage(const CommandDescription& command,
                    const std::string& version);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_MAN_PAGE_H_

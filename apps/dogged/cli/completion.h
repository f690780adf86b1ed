// Completion of the command line in shells. Pure functions: each gives the text
// of the file that the shell reads.
#ifndef DOGGED_APPS_DOGGED_CLI_COMPLETION_H_
#define DOGGED_APPS_DOGGED_CLI_COMPLETION_H_

#include <string>

#include "apps/dogged/cli/command_description.h"

namespace dogged {

std::string BashCompletion(const CommandDescription& all);
std::string ZshCompletion(const CommandDescription& all);
std::string FishCompletion(const CommandDescription& all);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_COMPLETION_H_

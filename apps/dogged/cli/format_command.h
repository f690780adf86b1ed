// `dogged fmt`: gives programs their canonical form.
#ifndef DOGGED_APPS_DOGGED_CLI_FORMAT_COMMAND_H_
#define DOGGED_APPS_DOGGED_CLI_FORMAT_COMMAND_H_

#include <string>
#include <vector>

#include "apps/dogged/process/exit_code.h"

namespace dogged {

ExitCode FormatCommand(const std::vector<std::string>& files, bool only_check);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_FORMAT_COMMAND_H_

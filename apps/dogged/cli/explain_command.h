// `dogged explain`: the meaning of a message's code.
#ifndef DOGGED_APPS_DOGGED_CLI_EXPLAIN_COMMAND_H_
#define DOGGED_APPS_DOGGED_CLI_EXPLAIN_COMMAND_H_

#include <string>

#include "apps/dogged/process/exit_code.h"

namespace dogged {

ExitCode ExplainCommand(const std::string& code);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_EXPLAIN_COMMAND_H_

// `dogged explain`: what stands behind the code of a message.
#ifndef DOGGED_APPS_DOGGED_CLI_EXPLAIN_COMMAND_H_
#define DOGGED_APPS_DOGGED_CLI_EXPLAIN_COMMAND_H_

#include <string>

#include "apps/dogged/process/exit_code.h"

namespace dogged {

ExitCode ExplainCommand(const std::string& code);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_EXPLAIN_COMMAND_H_

// The command line: flags and environment variables to plain options. A flag
// beats its DOGGED_* variable.
#ifndef DOGGED_APPS_DOGGED_CLI_COMMAND_LINE_H_
#define DOGGED_APPS_DOGGED_CLI_COMMAND_LINE_H_

#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"

namespace dogged {

// Parses it and runs the command that it names. All that is wrong has been
// printed.
ExitCode RunCommandLine(int argc, char** argv, const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_COMMAND_LINE_H_

// `dogged check`: only compiles, and prints the tiles or errors.
#ifndef DOGGED_APPS_DOGGED_RUN_CHECK_COMMAND_H_
#define DOGGED_APPS_DOGGED_RUN_CHECK_COMMAND_H_

#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"
#include "apps/dogged/run/program_options.h"

namespace dogged {

ExitCode CheckCommand(const ProgramOptions& options,
                      const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_CHECK_COMMAND_H_

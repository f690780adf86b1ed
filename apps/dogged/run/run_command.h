// `dogged run`: compile, run here or on agents, write the outputs.
#ifndef DOGGED_APPS_DOGGED_RUN_RUN_COMMAND_H_
#define DOGGED_APPS_DOGGED_RUN_RUN_COMMAND_H_

#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"
#include "apps/dogged/run/run_options.h"

namespace dogged {

ExitCode RunCommand(const RunOptions& options, const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_RUN_COMMAND_H_

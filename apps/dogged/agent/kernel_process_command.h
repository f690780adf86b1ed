// The process in which kernels of a user's library run. See
// runtime/exec/kernels/kernel_process.h.
#ifndef DOGGED_APPS_DOGGED_AGENT_KERNEL_PROCESS_COMMAND_H_
#define DOGGED_APPS_DOGGED_AGENT_KERNEL_PROCESS_COMMAND_H_

#include "apps/dogged/process/exit_code.h"

namespace dogged {

// Runs kernels of a user's library for an agent, which starts this process. Not
// for users. `parent` is the first argument.
ExitCode KernelProcessCommand(const char* parent);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_AGENT_KERNEL_PROCESS_COMMAND_H_

// `dogged agent`: one agent, until it is told to leave.
#ifndef DOGGED_APPS_DOGGED_AGENT_AGENT_COMMAND_H_
#define DOGGED_APPS_DOGGED_AGENT_AGENT_COMMAND_H_

#include "apps/dogged/agent/agent_options.h"
#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"

namespace dogged {

ExitCode AgentCommand(const AgentCommandOptions& options,
                      const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_AGENT_AGENT_COMMAND_H_

// The commands of the program, one function each. Results go to standard
// output, talk to standard error.
#ifndef DOGGED_APPS_DOGGED_COMMANDS_H_
#define DOGGED_APPS_DOGGED_COMMANDS_H_

#include <string>
#include <vector>

#include "apps/dogged/options.h"

namespace dogged {

// Not for users: what agents start to run the kernels of a user's library.
// `parent` is the first argument.
ExitCode KernelHelperCommand(const char* parent);
ExitCode RunCommand(const RunOptions& options, const Environment& environment);
ExitCode AgentCommand(const AgentCommandOptions& options,
                      const Environment& environment);
ExitCode StatusCommand(const ClusterOptions& options);
ExitCode CancelCommand(const ClusterOptions& options);
ExitCode CheckCommand(const ProgramOptions& options,
                      const Environment& environment);
ExitCode ExplainCommand(const std::string& code);
ExitCode FormatCommand(const std::vector<std::string>& files, bool only_check);
ExitCode GraphCommand(const GraphOptions& options,
                      const Environment& environment);
ExitCode SimCommand(const SimCommandOptions& options,
                    const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_COMMANDS_H_

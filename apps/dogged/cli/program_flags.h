// The flags of commands that look at programs and need no agents: `dogged
// check`, `explain`, `fmt`, `graph` and `sim`.
#ifndef DOGGED_APPS_DOGGED_CLI_PROGRAM_FLAGS_H_
#define DOGGED_APPS_DOGGED_CLI_PROGRAM_FLAGS_H_

#include <memory>

#include "apps/dogged/cli/command_flags.h"
#include "apps/dogged/process/environment.h"

namespace dogged {

// `environment` outlives it.
std::unique_ptr<CommandFlags> AddCheckFlags(CLI::App& app,
                                            const Environment& environment);
std::unique_ptr<CommandFlags> AddExplainFlags(CLI::App& app);
std::unique_ptr<CommandFlags> AddFormatFlags(CLI::App& app);
std::unique_ptr<CommandFlags> AddGraphFlags(CLI::App& app,
                                            const Environment& environment);
std::unique_ptr<CommandFlags> AddSimFlags(CLI::App& app,
                                          const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_PROGRAM_FLAGS_H_

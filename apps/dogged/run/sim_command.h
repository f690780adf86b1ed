// `dogged sim`: a whole cluster in one thread, from seeds, under faults.
#ifndef DOGGED_APPS_DOGGED_RUN_SIM_COMMAND_H_
#define DOGGED_APPS_DOGGED_RUN_SIM_COMMAND_H_

#include <cstdint>
#include <string>

#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"
#include "apps/dogged/run/program_options.h"

namespace dogged {

struct SimCommandOptions {
  ProgramOptions program;
  int agents = 8;
  uint64_t first_seed = 1;
  uint64_t last_seed = 1;
  std::string faults;
  int replicas = 2;
  bool search_only = false;
  bool claims = true;
  bool json = false;
};

ExitCode SimCommand(const SimCommandOptions& options,
                    const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_SIM_COMMAND_H_

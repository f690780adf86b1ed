// `dogged graph`: draws the tasks around a label.
#ifndef DOGGED_APPS_DOGGED_RUN_GRAPH_COMMAND_H_
#define DOGGED_APPS_DOGGED_RUN_GRAPH_COMMAND_H_

#include <string>

#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"
#include "apps/dogged/run/program_options.h"

namespace dogged {

struct GraphOptions {
  ProgramOptions program;
  std::string at;  // a label
  int radius = 2;
  std::string output;  // .svg or .dot; empty: standard output
};

ExitCode GraphCommand(const GraphOptions& options,
                      const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_GRAPH_COMMAND_H_

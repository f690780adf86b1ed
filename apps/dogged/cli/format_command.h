// `dogged fmt`: gives programs their canonical form.
#ifndef DOGGED_APPS_DOGGED_CLI_FORMAT_COMMAND_H_
#define DOGGED_APPS_DOGGED_CLI_FORMAT_COMMAND_H_

#include <string>
#include <vector>

#include "apps/dogged/process/exit_code.h"

namespace dogged {

struct FormatOptions {
  std::vector<std::string> files;
  bool only_check = false;  // no file is changed
  bool json = false;
};

// The first file that can't be read, is wrong or can't be written ends it; the
// answer has those before.
ExitCode FormatCommand(const FormatOptions& options);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_FORMAT_COMMAND_H_

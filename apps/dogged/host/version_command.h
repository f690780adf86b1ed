// `dogged version`: what this program is, and what it runs over here.
#ifndef DOGGED_APPS_DOGGED_HOST_VERSION_COMMAND_H_
#define DOGGED_APPS_DOGGED_HOST_VERSION_COMMAND_H_

#include "apps/dogged/process/exit_code.h"

namespace dogged {

// Parts that are missing are said so; that is no failure.
ExitCode VersionCommand(bool json);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_HOST_VERSION_COMMAND_H_

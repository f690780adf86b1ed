// `dogged doctor`: whether agents can run on this host, and what would help.
#ifndef DOGGED_APPS_DOGGED_HOST_DOCTOR_COMMAND_H_
#define DOGGED_APPS_DOGGED_HOST_DOCTOR_COMMAND_H_

#include <string>
#include <vector>

#include "apps/dogged/host/agent_findings.h"
#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"

namespace dogged {

struct DoctorOptions {
  AgentPlace place;
  // Words about variables of the environment that an agent would refuse.
  std::vector<std::string> bad_variables;
  bool json = false;
};

// kFailed if a finding is an error.
ExitCode DoctorCommand(const DoctorOptions& options,
                       const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_HOST_DOCTOR_COMMAND_H_

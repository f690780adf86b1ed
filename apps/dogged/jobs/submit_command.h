// `dogged submit`: gives a program to a cluster and leaves.
#ifndef DOGGED_APPS_DOGGED_JOBS_SUBMIT_COMMAND_H_
#define DOGGED_APPS_DOGGED_JOBS_SUBMIT_COMMAND_H_

#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"
#include "apps/dogged/run/run_options.h"

namespace dogged {

struct SubmitOptions {
  RunOptions run;
  double keep_seconds = 3600;  // results stay after the job's end
};

// Prints the job's hash once the cluster has the job with all of its inputs.
ExitCode SubmitCommand(const SubmitOptions& options,
                       const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_JOBS_SUBMIT_COMMAND_H_

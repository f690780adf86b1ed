// A run in this process, without agents.
#ifndef DOGGED_APPS_DOGGED_RUN_EMBEDDED_RUN_H_
#define DOGGED_APPS_DOGGED_RUN_EMBEDDED_RUN_H_

#include "absl/time/time.h"
#include "apps/dogged/process/exit_code.h"
#include "apps/dogged/run/loaded_program.h"
#include "apps/dogged/run/run_options.h"

namespace dogged {

// `program` has been compiled; `wall_start` is when the command began.
ExitCode RunEmbedded(const RunOptions& options, const LoadedProgram& program,
                     const KernelSource& kernels, absl::Time wall_start);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_EMBEDDED_RUN_H_

// The end that all ways of running share: outputs, check, words, once the
// results are there.
#ifndef DOGGED_APPS_DOGGED_RUN_FINISH_RUN_H_
#define DOGGED_APPS_DOGGED_RUN_FINISH_RUN_H_

#include <cstdint>
#include <vector>

#include "apps/dogged/process/exit_code.h"
#include "apps/dogged/report/outputs.h"
#include "apps/dogged/report/run_report.h"
#include "apps/dogged/run/loaded_program.h"
#include "apps/dogged/run/run_options.h"
#include "dsl/results.h"

namespace dogged {

// The program whose results a run has given; of a loop, that which ends at
// `time`, and says so.
LoadedProgram EndedProgram(const LoadedProgram& program, int64_t time);
// Writes files until an interrupt; prints written ones and failures, also in
// `report`.
ExitCode WriteOutputs(const std::vector<Output>& outputs,
                      dsl::ResultViews& views, RunReport& report);
// `report` has the result digest. Fills check and residual, writes the outputs,
// prints the report. `views` are those of `program`.
ExitCode FinishRun(const RunOptions& options, const LoadedProgram& program,
                   const KernelSource& kernels, const KernelTable& table,
                   dsl::ResultViews& views, RunReport report);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_FINISH_RUN_H_

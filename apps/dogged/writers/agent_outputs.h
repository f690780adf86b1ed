// Outputs that agents write, each its part, for all commands that ask for it.
#ifndef DOGGED_APPS_DOGGED_WRITERS_AGENT_OUTPUTS_H_
#define DOGGED_APPS_DOGGED_WRITERS_AGENT_OUTPUTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/dogged/process/exit_code.h"
#include "apps/dogged/report/outputs.h"
#include "apps/dogged/report/run_report.h"
#include "apps/dogged/writers/agent_writers.h"
#include "runtime/graph/program.h"

namespace dogged {

// Outputs of a job whose tasks have run go from `outputs` to `report` as agents
// have written them; so do those that can't be written, with an error that is
// printed. The rest is what agents can't write, which is said. `program` is
// that of the last round, `entropy` new.
//
// Errors: kCancelled after an interrupt.
absl::StatusOr<ExitCode> WriteByAgents(const AgentWriters::Options& agents,
                                       const Program& program, uint64_t entropy,
                                       std::vector<Output>& outputs,
                                       RunReport& report);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_WRITERS_AGENT_OUTPUTS_H_

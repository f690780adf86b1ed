#include "apps/dogged/writers/agent_outputs.h"

#include <cstdio>
#include <string>
#include <utility>

#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/report/output_parts.h"
#include "apps/dogged/report/outputs_json.h"
#include "runtime/base/random.h"
#include "runtime/base/status.h"
#include "runtime/graph/relations.h"

namespace dogged {
namespace {

absl::Status WriteOne(const AgentWriters::Options& agents,
                      const OutputParts& parts, Rng& rng, RunReport& report) {
  AgentWriters writers(agents, {rng.Next(), rng.Next()});
  DOGGED_ASSIGN_OR_RETURN(const AgentWriters::Written written,
                          writers.Write(parts));
  WrittenOutput output = parts.written;
  output.agents = written.writers;
  std::fprintf(stderr, "%s\n", output.ToWords().c_str());
  if (written.not_finite > 0) {
    std::fprintf(stderr, "warning: %s: %lld numbers are not finite\n",
                 output.path.c_str(),
                 static_cast<long long>(written.not_finite));
  }
  report.results_not_finite += written.not_finite;
  NoteWritten(OutputJson(output));
  report.outputs.push_back(std::move(output));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ExitCode> WriteByAgents(const AgentWriters::Options& agents,
                                       const Program& program, uint64_t entropy,
                                       std::vector<Output>& outputs,
                                       RunReport& report) {
  const Relations relations(program);
  Rng rng(entropy);
  std::vector<Output> rest;
  ExitCode code = ExitCode::kDone;
  for (const Output& output : outputs) {
    const absl::StatusOr<OutputParts> parts = PartsOf(output, relations);
    const absl::Status status =
        parts.ok() ? WriteOne(agents, *parts, rng, report) : parts.status();
    if (status.ok()) continue;
    if (absl::IsCancelled(status)) return status;
    // Where agents can't, this command does.
    if (absl::IsFailedPrecondition(status) || absl::IsDataLoss(status)) {
      std::fprintf(stderr, "%s: %s; it comes by way of this command\n",
                   output.selection.path.c_str(),
                   std::string(status.message()).c_str());
      rest.push_back(output);
      continue;
    }
    code = PrintError(status);
    report.outputs_failed.push_back(output.selection.path);
  }
  outputs = std::move(rest);
  return code;
}

}  // namespace dogged

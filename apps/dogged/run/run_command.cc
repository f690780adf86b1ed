#include "apps/dogged/run/run_command.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/process/memory.h"
#include "apps/dogged/process/worker_count.h"
#include "apps/dogged/run/cluster_run.h"
#include "apps/dogged/run/cluster_target.h"
#include "apps/dogged/run/embedded_run.h"
#include "apps/dogged/run/interrupt.h"
#include "apps/dogged/run/loaded_program.h"
#include "apps/dogged/run/not_finite.h"
#include "apps/dogged/run/run_warnings.h"
#include "runtime/base/clock.h"
#include "runtime/exec/tile_pool.h"

namespace dogged {
namespace {

// Fills in for how many agents and workers, too.
absl::StatusOr<LoadedProgram> LoadForRun(RunOptions& options,
                                         const KernelSource& kernels) {
  ProgramOptions& program = options.program;
  if (!options.cluster.empty() &&
      (program.agents == 0 || program.workers == 0)) {
    return LoadForCluster(options, kernels);
  }
  program.agents = std::max(1, program.agents);
  program.workers = WorkersPerAgent(program.workers, program.agents);
  return LoadProgram(program, kernels);
}

// Memory for a run that brings its agents: an error if there is too little, a
// warning where it may be short.
absl::Status CheckOwnMemory(const RunOptions& options,
                            const LoadedProgram& program, bool is_embedded) {
  const auto here = static_cast<double>(PhysicalBytes());
  AgentsMemory agents{.agents = options.program.agents,
                      .unbounded = here,
                      .unbounded_share = 1};
  if (options.memory_bytes > 0) {
    agents.bounded = static_cast<double>(options.memory_bytes) * agents.agents;
    agents.unbounded_share = 0;
  }
  return WarnOfMemory({.footprint = program.facts.footprint,
                       .here = here,
                       .replicas = options.replicas == 0 ? 2 : options.replicas,
                       .agents = is_embedded ? nullptr : &agents,
                       .agents_are_here = true});
}

ExitCode RunOrThrow(const RunOptions& options, const Environment& environment) {
  SystemClock clock;
  const absl::Time wall_start = clock.Now();
  const KernelSource kernels(
      environment,
      LibraryPlace::Of(options.libraries,
                       WorkersPerAgent(options.program.workers,
                                       std::max(1, options.program.agents))));
  RunOptions filled = options;
  filled.program.writes_results = true;
  if (!filled.cluster.empty() &&
      (!filled.kill_at.empty() || !filled.join_at.empty() ||
       filled.kill_every_seconds > 0)) {
    PrintError(
        "--kill-at, --kill-every and --join-at are for agents that this "
        "command starts, not for those of --cluster");
    return ExitCode::kMistyped;
  }
  if (!filled.kill_at.empty() && filled.join_at.empty() &&
      filled.program.agents <= 1) {
    PrintError("--kill-at would kill the only agent: add --agents 2, or more");
    return ExitCode::kMistyped;
  }
  auto keys = filled.cluster.empty()
                  ? OpenNamedKeys(filled.key_choice, environment)
                  : OpenCredentials(filled.key_choice, environment);
  if (!keys.ok()) {
    PrintError(keys.status().message());
    return ExitCode::kMistyped;
  }
  filled.credentials = *std::move(keys);
  const auto program = LoadForRun(filled, kernels);
  if (!program.ok()) return ExitCodeOf(program.status());
  if (filled.output_to == "agents" && program->outputs.empty()) {
    PrintError(
        "--output-to agents: there is no file for them to write; --output "
        "SELECTION=FILE names one");
    return ExitCode::kMistyped;
  }
  const std::string hash = JobHash(program->job.Encode()).ToString();
  if (!filled.json) std::fprintf(stderr, "job %s\n", hash.c_str());
  PrintEvent("submitted",
             {{"job", hash}, {"program", program->job.program.name}});
  WarnOfInputs(*program);
  // Bounded memory and a directory are matters of an agent.
  const bool embedded = filled.cluster.empty() && filled.program.agents == 1 &&
                        filled.kill_at.empty() && filled.join_at.empty() &&
                        filled.kill_every_seconds == 0 && !filled.search_only &&
                        filled.output_to != "agents" &&
                        environment.memory.empty() &&
                        environment.directory.empty();
  if (filled.cluster.empty()) {
    const absl::Status memory = CheckOwnMemory(filled, *program, embedded);
    if (!memory.ok()) return PrintError(memory);
  }
  return embedded
             ? RunEmbedded(filled, *program, kernels, wall_start)
             : RunOnCluster(filled, *program, kernels, environment, wall_start);
}

}  // namespace

ExitCode RunCommand(const RunOptions& options, const Environment& environment) {
  CatchInterrupts("interrupted: nothing has run\n");
  const std::unique_ptr<TilePool> tiles = TilePool::Create(PhysicalBytes());
  if (tiles != nullptr) tiles->Install();
  try {
    return RunOrThrow(options, environment);
  } catch (const std::bad_alloc&) {
    return PrintError(OrNoAddresses(absl::ResourceExhaustedError(
        absl::StrCat("no memory beyond the ", PeakResidentBytes(),
                     " bytes that this process had"))));
  }
}

}  // namespace dogged

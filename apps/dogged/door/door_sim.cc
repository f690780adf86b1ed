#include "apps/dogged/door/door_sim.h"

#include <string>

#include "apps/dogged/agent/kernel_source.h"
#include "apps/dogged/agent/library_place.h"
#include "runtime/base/status.h"
#include "runtime/job/context/job_options.h"

namespace dogged {

absl::StatusOr<DoorSim> DoorSim::Of(const DoorRequest& request) {
  DoorSim out;
  DOGGED_ASSIGN_OR_RETURN(out.seeds, request.Seeds("seeds"));
  if (out.seeds.empty()) {
    return absl::NotFoundError("\"seeds\" has no seed");
  }
  DOGGED_ASSIGN_OR_RETURN(
      const int64_t agents,
      request.Number("agents", 1, SimRuns::kAgentsMax, out.options.agents));
  out.options.agents = static_cast<int>(agents);
  DOGGED_ASSIGN_OR_RETURN(
      const int64_t replicas,
      request.Number("replicas", 1, JobOptions::kReplicasMax,
                     out.options.replicas));
  out.options.replicas = static_cast<int>(replicas);
  DOGGED_ASSIGN_OR_RETURN(out.options.search_only, request.Flag("search_only"));
  if (request.Has("claims")) {
    DOGGED_ASSIGN_OR_RETURN(out.options.claims, request.Flag("claims"));
  }
  DOGGED_ASSIGN_OR_RETURN(const std::string faults, request.Text("faults"));
  const auto plan = FaultPlan::Parse(faults);
  if (!plan.ok()) return absl::NotFoundError(plan.status().message());
  out.options.faults = *plan;
  return out;
}

absl::StatusOr<nlohmann::ordered_json> DoorSim::Run(
    const Job& job, const Environment& environment,
    absl::FunctionRef<bool()> has_gone) const {
  const KernelSource kernels(environment, {.kind = LibraryPlace::Kind::kHere});
  DOGGED_ASSIGN_OR_RETURN(SimRuns runs, SimRuns::Make(job, kernels, options));
  nlohmann::ordered_json failure;
  for (const uint64_t seed : seeds) {
    if (has_gone()) return absl::CancelledError("nobody waits for the seeds");
    const std::string wrong = runs.Run(seed);
    if (wrong.empty()) continue;
    failure = {{"seed", seed}, {"message", wrong}};
    break;
  }
  nlohmann::ordered_json out = runs.totals().ToJson(job.program.name);
  if (!failure.is_null()) out["failure"] = std::move(failure);
  return out;
}

}  // namespace dogged

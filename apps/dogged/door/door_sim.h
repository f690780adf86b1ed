// DoorSim: simulated runs that a client of the door asks for, from one seed
// after the other, until one fails.
#ifndef DOGGED_APPS_DOGGED_DOOR_DOOR_SIM_H_
#define DOGGED_APPS_DOGGED_DOOR_DOOR_SIM_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "apps/dogged/door/door_request.h"
#include "apps/dogged/process/environment.h"
#include "apps/dogged/run/sim_runs.h"
#include "runtime/graph/job.h"

namespace dogged {

struct DoorSim {
  std::vector<uint64_t> seeds;
  SimRuns::Options options;

  // Errors: kNotFound naming the field, or the fault.
  static absl::StatusOr<DoorSim> Of(const DoorRequest& request);

  // The totals, and "failure" with "seed" and "message" if a seed failed, which
  // is the last one that ran. Errors: as SimRuns::Make(); kCancelled once
  // `has_gone` says so, which is asked before each seed.
  absl::StatusOr<nlohmann::ordered_json> Run(
      const Job& job, const Environment& environment,
      absl::FunctionRef<bool()> has_gone) const;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_DOOR_DOOR_SIM_H_

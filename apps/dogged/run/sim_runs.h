// SimRuns: runs of one program by a simulated cluster, from seeds, each held to
// the results of a serial run; and their totals.
//
// Used by one thread.
#ifndef DOGGED_APPS_DOGGED_RUN_SIM_RUNS_H_
#define DOGGED_APPS_DOGGED_RUN_SIM_RUNS_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "apps/dogged/agent/kernel_source.h"
#include "runtime/base/hash.h"
#include "runtime/base/label.h"
#include "runtime/graph/job.h"
#include "runtime/sim/fault_plan.h"
#include "runtime/sim/outcome.h"

namespace dogged {

// Totals of many simulated runs.
struct SimTotals {
  int64_t seeds = 0;
  int64_t failed = 0;
  int64_t faults_injected = 0;
  int64_t tasks_needed = 0;
  int64_t tasks_executed = 0;
  int64_t held_labels_max = 0;  // at any agent
  absl::Duration elapsed;       // virtual
  uint64_t trace_digest = 0;    // of the last one

  std::string ToWords() const;
  nlohmann::ordered_json ToJson(const std::string& program) const;
};

class SimRuns {
 public:
  static constexpr int kAgentsMax = 1024;

  struct Options {
    int agents = 8;
    int replicas = 2;
    bool search_only = false;
    bool claims = true;
    FaultPlan faults;
  };

  // Runs `job` serially first. `kernels` outlive this. Errors: as
  // KernelSource::Load(); kFailedPrecondition if the serial run fails.
  static absl::StatusOr<SimRuns> Make(const Job& job,
                                      const KernelSource& kernels,
                                      const Options& options);

  // Adds the run of a seed. Returns its error; empty if it has none.
  std::string Run(uint64_t seed);
  const SimTotals& totals() const { return totals_; }

 private:
  SimRuns(Job job, const KernelSource& kernels, const Options& options);

  // Constant after construction.
  Job job_;  // its inputs are cut
  const KernelSource* kernels_;
  Options options_;
  std::string encoded_;
  std::map<Label, Digest> expected_;

  SimTotals totals_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_SIM_RUNS_H_

// SimOptions: what a simulated cluster is made of, and what befalls it. Plain
// data.
#ifndef DOGGED_RUNTIME_SIM_OPTIONS_H_
#define DOGGED_RUNTIME_SIM_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "runtime/base/limits.h"
#include "runtime/graph/job.h"
#include "runtime/job/context/job_options.h"
#include "runtime/sim/disk.h"
#include "runtime/sim/fault_plan.h"
#include "runtime/sim/sickness.h"
#include "runtime/sim/trace.h"

namespace dogged {

struct SimOptions {
  int agents = 8;
  int workers = 1;
  // Number of the first agents that are of another numeric class than the job.
  int foreign_agents = 0;
  // Sicknesses of the first agents, and of an agent that joins as `sick`; kNone
  // of the latter: drawn.
  std::vector<Sickness> sick_agents;
  Sickness sick_joiner = Sickness::kNone;
  // False: the client dies once it has submitted, or, if it has inputs, at the
  // end of the job; and the run is over when every agent knows that the job is
  // done.
  bool client_stays = true;
  // Once every agent knows that the job is done all agents vanish, and come
  // back with their directories; then a client comes that asks for the results.
  // With `client_stays` false.
  bool outage_after_end = false;
  // Once every agent knows that the job is done the first agents crash, one
  // after another, and another agent joins for each; then a client comes that
  // asks for the results. With `client_stays` false.
  bool replaces_after_end = false;
  // Once every agent knows that the job is done so many of them crash at once;
  // then a client comes that asks for the results. With `client_stays` false.
  int lost_after_end = 0;
  // A second client attaches to the job, and begins to read, slowly, once the
  // first has all results and has told so.
  bool second_client = false;
  // All agents know each other when the job is submitted; false: the first
  // agent has the job before the rest join. None: drawn.
  std::optional<bool> gathers_first;
  uint64_t seed = 1;
  JobOptions job;
  FaultPlan faults;
  absl::Duration task_time = absl::Milliseconds(5);
  // Making the kernels of a job takes this long, on average.
  absl::Duration compile_time = absl::Milliseconds(50);
  // Faults are spread over this much time from the start; zero: over the time
  // that the tasks alone would take.
  absl::Duration fault_span;
  // Virtual time, beyond that of the tasks, after which a run counts as hung.
  absl::Duration time_max = absl::Minutes(2);
  // Hosts that the agents are spread over: copies avoid the host of the home.
  int hosts = 4;
  // Limits drawn from the seed. generation_interval 0: small in half of the
  // seeds. copies.labels_max -1: in half of the seeds hardly any copies without
  // a cut. credit_bytes -1: in a quarter of the seeds no credit.
  // batch_bytes_max -1: in a third of the seeds a label for each message, in a
  // third a few.
  JobLimits job_limits = {{.generation_interval = 0,
                           .copies = {.labels_max = -1},
                           .cuts = {.loss_interval = absl::ZeroDuration()},
                           .cut_bytes_min = -1,
                           .credit_bytes = -1,
                           .batch_bytes_max = -1}};
  // Each agent has a directory, which it finds again when it comes back.
  bool directories = false;
  // Agents write values even without directories, if memory is short.
  bool spill = false;
  DiskFaults disk;
  // Arenas that agents of a host share: bytes of each, and the length from
  // which on values lie there. -1: drawn; 0: nothing is shared.
  int64_t arena_bytes = -1;
  int64_t arena_value_bytes_min = 1;
  // Longer bodies travel as streams; a small one makes all values do so.
  int64_t stream_bytes_min = Limits{}.stream_bytes_min;
  // Time within which all agents must have the same view, after the results are
  // there and all links are mended; zero: not checked.
  absl::Duration heals_within;
  // Counts labels that were made with several digests, see SimOutcome.
  bool compares_made = false;
  // Job whose large inputs clients give to agents; outlives the cluster.
  const Job* inputs = nullptr;
  // Limits of routing. The bound of a queue holds for the network, too, if it
  // is smaller than the default.
  Limits limits;
  SimTrace trace;  // null: nobody looks
};

// The same with all that is to be drawn from the seed.
SimOptions Drawn(SimOptions options);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_OPTIONS_H_

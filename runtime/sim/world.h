// SimWorld: what all parts of a simulated cluster share: what it is made of,
// time, the network, the job, and the outcome so far.
#ifndef DOGGED_RUNTIME_SIM_WORLD_H_
#define DOGGED_RUNTIME_SIM_WORLD_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "runtime/agent/job_tools.h"
#include "runtime/base/ids.h"
#include "runtime/base/limits.h"
#include "runtime/base/random.h"
#include "runtime/graph/job.h"
#include "runtime/graph/relations.h"
#include "runtime/sim/event_queue.h"
#include "runtime/sim/network.h"
#include "runtime/sim/options.h"
#include "runtime/sim/outcome.h"
#include "runtime/sim/shared_memory.h"

namespace dogged {

struct SimWorld {
  SimWorld(const SimOptions& given, std::string encoded, KernelLoader loader)
      : options(Drawn(given)),
        encoded_job(std::move(encoded)),
        load_kernels(std::move(loader)),
        rng(Rng(options.seed).Stream("cluster")),
        network(queue, options.faults.network,
                Rng(options.seed).Stream("network"), options.trace),
        job(*Job::Decode(encoded_job)),
        relations(job.program),
        job_id(JobHash(encoded_job).high) {
    if (options.limits.outbox_bytes_max < Limits{}.outbox_bytes_max) {
      network.SetQueueBytesMax(options.limits.outbox_bytes_max);
    }
    // For a loop, the tasks of all rounds that there may be, until it has
    // ended.
    outcome.tasks_needed = job.program.TaskCount();
  }
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  // A view has changed, or a cut healed.
  void NoteDisturbance() { disturbed = queue.now(); }

  const SimOptions options;
  const std::string encoded_job;
  const KernelLoader load_kernels;
  Rng rng;
  // Before all that may hold values.
  SimArena::Processes processes;
  std::vector<std::unique_ptr<SimArena>> arenas;
  EventQueue queue;
  SimNetwork network;
  const Job job;
  const Relations relations;
  const JobId job_id;
  const SubmissionId submission = SubmissionId(1);  // of the first client
  SimOutcome outcome;
  absl::Time disturbed = absl::InfinitePast();  // last
  bool is_over = false;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_WORLD_H_

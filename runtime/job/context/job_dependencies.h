// JobDependencies: the parts of which a JobRun is made.
#ifndef DOGGED_RUNTIME_JOB_CONTEXT_JOB_DEPENDENCIES_H_
#define DOGGED_RUNTIME_JOB_CONTEXT_JOB_DEPENDENCIES_H_

#include <functional>
#include <memory>

#include "kvstore/lending/lending.h"
#include "routing/multicast/multicast.h"
#include "runtime/base/random.h"
#include "runtime/exec/executor.h"
#include "runtime/graph/job.h"
#include "runtime/graph/kernel.h"
#include "runtime/job/context/job_options.h"
#include "runtime/job/inputs/input_chunks.h"
#include "runtime/job/storage/job_storage.h"

namespace dogged {

struct JobDependencies {
  AgentId self;
  JobId id;
  std::shared_ptr<const Job> job;
  std::shared_ptr<const KernelTable> kernels;
  JobOptions options;
  JobLimits limits;
  Executor* executor;    // outlives the run
  Multicast* multicast;  // outlives the run
  // Bytes that wait for an agent to take them: Transport::queued_bytes().
  std::function<int64_t(AgentId)> queued_bytes = [](AgentId) { return 0; };
  // Bytes a second that an agent takes (link_rates.h); 0: unknown.
  std::function<double(AgentId)> link_rate = [](AgentId) { return 0.0; };
  Rng rng;
  ValueStore* values = nullptr;  // outlives the run; null: no disk
  JobStorage::Options storage;
  Lending* lending = nullptr;     // outlives the run; null: values are copied
  InputChunks* inputs = nullptr;  // outlives the run; null: all are in the job
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_CONTEXT_JOB_DEPENDENCIES_H_

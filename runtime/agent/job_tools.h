// JobTools: functions that the agent needs from the language layer. Plain
// functions.
#ifndef DOGGED_RUNTIME_AGENT_JOB_TOOLS_H_
#define DOGGED_RUNTIME_AGENT_JOB_TOOLS_H_

#include <functional>
#include <utility>

#include "absl/status/statusor.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/job.h"
#include "runtime/graph/kernel.h"

namespace dogged {

struct LoadedKernels {
  LoadedKernels(KernelTable made) : table(std::move(made)) {}  // NOLINT
  LoadedKernels(KernelTable made, absl::Status why)
      : table(std::move(made)), trouble(std::move(why)) {}
  KernelTable table;
  absl::Status trouble;  // why they are slower than they should be
};
// Makes kernels of a job's kernel specifications: apps wires it to dsl. Called
// beside the loop.
using KernelLoader =
    std::function<absl::StatusOr<LoadedKernels>(const Job& job)>;
// The digest of a job's results, given the value of each result label.
using ResultHasher = std::function<absl::StatusOr<Digest>(
    const Program& program,
    const std::function<absl::StatusOr<Value>(const Label&)>& lookup)>;
struct JobTools {
  KernelLoader load_kernels;
  ResultHasher hash_results;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_JOB_TOOLS_H_

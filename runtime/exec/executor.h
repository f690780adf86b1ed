// Executor: the port through which an agent's loop runs kernels. The pool of
// threads stands behind it in production; the simulation runs kernels inline
// and completes them in virtual time.
//
// Threads submit and poll one at a time.
#ifndef DOGGED_RUNTIME_EXEC_EXECUTOR_H_
#define DOGGED_RUNTIME_EXEC_EXECUTOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/base/ids.h"
#include "runtime/base/value.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/program.h"
#include "runtime/graph/task.h"

namespace dogged {

// The inputs of a task by position of the use, or its outputs by position of
// the create. Most tasks have few, which then need no heap.
using ValueList = absl::InlinedVector<Value, 4>;

// A task whose required inputs are all at hand.
struct ReadyTask {
  JobId job;
  Task task;
  ValueList inputs;  // none where the use's guard fails
  int64_t priority = 0;
  const Kernel* kernel = nullptr;  // outlives the completion, or by `owner`
  int create_count = 0;
  // Digests of the outputs are not expected to be asked for.
  bool lazy_digests = false;
  // Keeps `kernel` alive until the task has run, if the submitter may be gone
  // by then.
  std::shared_ptr<const void> owner;
};

struct Completion {
  JobId job;
  Task task;
  ValueList outputs;  // sealed; empty if `status` is an error
  // As submitted, without those that the kernel took.
  ValueList inputs;
  absl::Status status;
  absl::Duration elapsed;  // of the kernel and the sealing
};

class Executor {
 public:
  virtual ~Executor() = default;
  // Queues `task`. Every submitted task completes exactly once.
  virtual void Submit(ReadyTask task) = 0;
  // Appends completions since the last call.
  virtual void Poll(std::vector<Completion>& completions) = 0;
  virtual int worker_count() const = 0;
  // Submitted and not yet completed; completions that Poll() has not handed
  // out do not count.
  virtual int64_t unfinished_count() const = 0;
  // Of this host, for the workers of all its agents.
  virtual int processor_count() const { return worker_count(); }
  // How many workers could start at once without taking turns with whatever
  // else runs on this host; a snapshot.
  virtual int RunnableWorkers() const { return worker_count(); }
  // An idle worker looks out for messages, so nobody else need; a snapshot.
  virtual bool LooksOut() const { return false; }
  // Workers with nothing to run; a snapshot.
  int idle_workers() const {
    const int64_t idle = worker_count() - unfinished_count();
    return idle > 0 ? static_cast<int>(idle) : 0;
  }
};

// Runs a kernel: fills `outputs` (none on entry, one place per create).
//
// Errors: the kernel's own; kResourceExhausted without memory for a value;
// kInternal if it throws anything else or leaves an output unset. The task's
// name is not in the message: see NameTask().
absl::Status RunKernel(const Kernel& kernel, const Task& task,
                       absl::Span<Value> inputs, absl::Span<Value> outputs);

// `status` with "task gemm(3)(1)(0): " before its message; OK stays OK.
absl::Status NameTask(const absl::Status& status, const Program& program,
                      const Task& task);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_EXECUTOR_H_

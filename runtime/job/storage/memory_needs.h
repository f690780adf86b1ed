// MemoryNeeds: the memory that tasks of one job take, as its description
// foretells: inputs, outputs and scratch of single tasks, and what is kept of
// labels beside them. It says why a task can never run within a bound, and
// which bound would do.
//
// A machine: no threads, clocks or messages. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_STORAGE_MEMORY_NEEDS_H_
#define DOGGED_RUNTIME_JOB_STORAGE_MEMORY_NEEDS_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/relations.h"
#include "runtime/graph/task.h"
#include "runtime/graph/task_bytes.h"

namespace dogged {

class MemoryNeeds {
 public:
  // All values of this process may take `bytes_max`.
  MemoryNeeds(const Relations& relations, int64_t bytes_max)
      : relations_(relations), bytes_max_(bytes_max) {}
  MemoryNeeds(const MemoryNeeds&) = delete;
  MemoryNeeds& operator=(const MemoryNeeds&) = delete;

  // Tasks are known from now on, on an agent of so many workers; results stay,
  // and versions of rows for two of these intervals. The widest task is judged.
  absl::Status SetKernels(std::shared_ptr<const KernelTable> kernels,
                          int workers, int64_t generation_interval);
  // kResourceExhausted if `bytes`, of inputs and outputs of `task`, are more
  // than all values may take; names the number that would do.
  absl::Status Judge(const Task& task, int64_t bytes) const;
  // 0 as long as that is not known.
  int64_t OutputsOf(const Task& task) const {
    return task_bytes_.has_value() ? task_bytes_->OutputsOf(task) : 0;
  }
  // A bound in which a task that needs `bytes` more beside `live` can run, and
  // all others, as far as that is known.
  int64_t Enough(int64_t live, int64_t bytes) const;

 private:
  const Relations& relations_;
  const int64_t bytes_max_;
  // Written by SetKernels() alone.
  std::shared_ptr<const KernelTable> kernels_;
  std::optional<TaskBytes> task_bytes_;
  int64_t widest_bytes_ = 0;  // of inputs and outputs of a task, as foretold
  int64_t kept_bytes_ = 0;    // beside them: scratch and labels, an estimate
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_STORAGE_MEMORY_NEEDS_H_

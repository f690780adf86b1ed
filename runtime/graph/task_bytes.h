// TaskBytes: the memory that tasks take, before they run, as far as their
// kernels know. Pure; thread-safe as kernels are.
#ifndef DOGGED_RUNTIME_GRAPH_TASK_BYTES_H_
#define DOGGED_RUNTIME_GRAPH_TASK_BYTES_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/relations.h"

namespace dogged {

class TaskBytes {
 public:
  // `kernels` by position in Program::kernels, null where no task runs it. Both
  // outlive this.
  TaskBytes(const Relations& relations, const KernelTable& kernels)
      : relations_(relations), kernels_(kernels) {}

  // Bytes of the values that `task` makes; 0 if that is not known.
  int64_t OutputsOf(const Task& task) const;
  // Bytes of its outputs and inputs.
  int64_t AllOf(const Task& task) const;
  // See Kernel::ScratchBytes().
  int64_t ScratchOf(const Task& task) const;

  // Calls `visit` for tasks of every class: at the corners of its domain and
  // evenly between them, about a thousand at most. Extents that depend on the
  // index mostly do so at the edges of the domain, so one of the largest is
  // among them.
  void ForEachSample(absl::FunctionRef<void(const Task&)> visit) const;
  // How many labels there are at a time where no more than `versions_max`
  // versions of a row are, an estimate.
  double LabelsAtOnce(int64_t versions_max) const;

 private:
  const Kernel* KernelOf(const Task& task) const;

  const Relations& relations_;
  const KernelTable& kernels_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_TASK_BYTES_H_

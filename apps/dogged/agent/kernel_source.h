// KernelSource: from a job to kernels, for agents and for all commands that
// know programs.
#ifndef DOGGED_APPS_DOGGED_AGENT_KERNEL_SOURCE_H_
#define DOGGED_APPS_DOGGED_AGENT_KERNEL_SOURCE_H_

#include "absl/status/statusor.h"
#include "apps/dogged/agent/allowed_libraries.h"
#include "apps/dogged/agent/library_place.h"
#include "apps/dogged/process/environment.h"
#include "dsl/kernels/c_kernels.h"
#include "runtime/exec/kernels/kernel_library.h"
#include "runtime/exec/kernels/kernel_processes.h"
#include "runtime/graph/job.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/numeric_class.h"

namespace dogged {

// The kernels this binary knows by name, and the compiler for all others.
// SetUpBlas() came before: numeric classes depend on it.
class KernelSource {
 public:
  explicit KernelSource(const Environment& environment,
                        const LibraryPlace& libraries = {},
                        AllowedLibraries allowed = {});

  const KernelRegistry& registry() const { return registry_; }
  // The parts that this host has; a job needs some of them.
  const NumericParts& numeric_parts() const { return numeric_parts_; }
  // For so many workers that run them. Why they are interpreted, where they
  // should have been compiled, is for `trouble`, or the log without it. Errors:
  // kFailedPrecondition for a job that needs another numeric class;
  // kResourceExhausted, see ReserveBlas().
  absl::StatusOr<KernelTable> Load(const Job& job, int workers,
                                   absl::Status* trouble = nullptr) const;
  dsl::CompileSource compile() const;
  LoadLibrary load_library() const;
  // See KernelCompiler::Interrupt() and KernelProcesses::Interrupt().
  void Interrupt() const {
    compiler_.Interrupt();
    processes_.Interrupt();
  }

 private:
  KernelRegistry registry_;
  KernelCompiler compiler_;
  LibraryPlace libraries_;
  KernelProcesses processes_;
  AllowedLibraries allowed_;
  NumericParts numeric_parts_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_AGENT_KERNEL_SOURCE_H_

// Libraries whose functions run in kernel processes: whatever a function does,
// it can't hurt the agent. A process that ends under a call is no proof against
// the kernel, for it may have been killed from outside: the same call is made
// once more in a new one, and fails if that ends as well.
#ifndef DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_PROCESSES_H_
#define DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_PROCESSES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/exec/kernels/kernel_process.h"
#include "runtime/graph/kernel.h"

namespace dogged {

class KernelProcesses {
 public:
  // `program` is started as a kernel process: it calls ServeKernelCalls() when
  // its first argument is "kernel-process" and its second its parent.
  explicit KernelProcesses(KernelJail jail,
                           std::string program = "/proc/self/exe");

  // As LoadLibrary. A process has then loaded the library and is ready for
  // calls of any thread; a thread that calls and finds none idle starts one.
  // The returned library outlives this object.
  absl::StatusOr<std::shared_ptr<KernelLibrary>> Load(
      const KernelLibrarySpec& spec) const;
  // Whether processes can be jailed on this host, in words: what it refuses
  // although the jail holds; empty if that is nothing. Errors: kUnavailable,
  // kResourceExhausted.
  absl::StatusOr<std::string> TryJail() const;
  // Makes calls of Load() fail, also those under way. From any thread, and
  // from signal handlers.
  void Interrupt() const;

 private:
  const KernelJail jail_;
  const std::string program_;
  const Descriptor interrupt_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_PROCESSES_H_

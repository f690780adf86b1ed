// Libraries whose functions run in kernel helpers: whatever a function does, it
// can't hurt the agent. A process that ends under a call is no proof against
// the kernel, for it may have been killed from outside: the same call is made
// once more in a new one, and fails if that ends as well.
#ifndef DOGGED_RUNTIME_EXEC_KERNELS_HELPER_LIBRARY_H_
#define DOGGED_RUNTIME_EXEC_KERNELS_HELPER_LIBRARY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/exec/kernels/kernel_helper.h"
#include "runtime/graph/kernel.h"

namespace dogged {

class KernelHelpers {
 public:
  // `program` is started as a helper: it calls ServeKernelCalls() when its
  // first argument is "kernel-helper" and its second its parent.
  explicit KernelHelpers(std::string program = "/proc/self/exe");

  // As LoadLibrary. A helper has then loaded the library and is ready for calls
  // of any thread; a thread that calls and finds none idle starts one. The
  // returned library outlives this object.
  absl::StatusOr<std::shared_ptr<KernelLibrary>> Load(
      const KernelLibrarySpec& spec) const;
  // Makes calls of Load() fail, also those under way. From any thread, and
  // from signal handlers.
  void Interrupt() const;

 private:
  const std::string program_;
  const Descriptor interrupt_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_KERNELS_HELPER_LIBRARY_H_

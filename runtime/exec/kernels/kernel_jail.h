// KernelJail: what a kernel process may do, from before its library is loaded:
// compute, read libraries, and print. See docs/SECURITY.md.
#ifndef DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_JAIL_H_
#define DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_JAIL_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace dogged {

struct KernelJail {
  bool is_on = true;
  // Bytes of private memory, for a process; 0: no bound.
  int64_t memory_bytes_max = 0;

  // For this process, which has a single thread, from now on. Returns words for
  // the log where the host refuses a part and the jail holds; else none.
  //
  // Errors: kUnavailable where no jail is to be had.
  absl::StatusOr<std::string> Enter() const;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_JAIL_H_

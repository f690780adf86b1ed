#include "apps/dogged/agent/kernel_process_command.h"

#include <cstdio>
#include <string>

#include "absl/strings/numbers.h"
#include "apps/dogged/process/errors.h"
#include "apps/tiles/blas_kernels.h"
#include "runtime/exec/kernels/kernel_call_server.h"

namespace dogged {

ExitCode KernelProcessCommand(const char* parent) {
  int number = 0;
  // Output of a kernel is seen also if the kernel does not return.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  // Kernels here may use OpenBLAS, and find it as in agents.
  if (const absl::Status blas = SetUpBlas(); !blas.ok()) {
    PrintError(blas.message());
    return ExitCode::kNoRoom;
  }
  if (absl::SimpleAtoi(parent, &number) && ServeKernelCalls(number)) {
    return ExitCode::kDone;
  }
  PrintError("kernel-process is for agents alone");
  return ExitCode::kMistyped;
}

}  // namespace dogged

// The inside of a kernel process, which loads one library and runs its
// functions for the agent that has started it. See kernel_process.h.
#ifndef DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_CALL_SERVER_H_
#define DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_CALL_SERVER_H_

namespace dogged {

// Serves until `parent`, a process ID, or the thread of it that has started
// this process ends or wants no more calls. False if this process was not
// started as a kernel process.
bool ServeKernelCalls(int parent);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_CALL_SERVER_H_

// SystemCallFilter: the system calls that computing takes, and no others. The
// adapter to libseccomp.
//
// A kernel may read files, map memory, start and end threads, wait, look at the
// clock and write to the standard streams. Calls that libraries only try are
// refused by an error, any other raises SIGSYS, which ends the process.
#ifndef DOGGED_RUNTIME_EXEC_KERNELS_SYSTEM_CALL_FILTER_H_
#define DOGGED_RUNTIME_EXEC_KERNELS_SYSTEM_CALL_FILTER_H_

#include <string>

#include "absl/status/status.h"

namespace dogged {

// Holds for this thread and all that it starts, for ever.
//
// Errors: kUnavailable if the system has no filters.
absl::Status FilterSystemCalls();

// "socket", or "number 1000".
std::string SystemCallName(int number);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_KERNELS_SYSTEM_CALL_FILTER_H_

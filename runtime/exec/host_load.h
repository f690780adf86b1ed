// Load of this computer by other processes.
#ifndef DOGGED_RUNTIME_EXEC_HOST_LOAD_H_
#define DOGGED_RUNTIME_EXEC_HOST_LOAD_H_

#include <optional>

#include "absl/strings/string_view.h"

namespace dogged {

// Threads of this computer that run or could run now, the caller's among them;
// a snapshot. None where the system does not say.
std::optional<int> RunnableThreads();

// The same of the text of /proc/loadavg, "0.20 0.18 0.12 1/80 11206".
std::optional<int> RunnableOf(absl::string_view loadavg);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_HOST_LOAD_H_

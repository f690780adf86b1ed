// How the program ends.
#ifndef DOGGED_APPS_DOGGED_PROCESS_EXIT_CODE_H_
#define DOGGED_APPS_DOGGED_PROCESS_EXIT_CODE_H_

#include "absl/status/status.h"

namespace dogged {

// Exit statuses.
enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,    // the job failed
  kMistyped = 2,  // or something that was asked for did not happen
  kWrong = 3,     // the program is wrong
  kNoAgents = 4,  // could not reach or start agents
  kNoRoom = 5,    // out of memory or disk
  kInterrupted = 130,
};

// The exit status of an error, which the caller prints before it returns this
// to main.
ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_PROCESS_EXIT_CODE_H_

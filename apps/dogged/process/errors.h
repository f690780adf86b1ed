// Errors of this program, on standard error, in one form: "error: what, where,
// what to do".
#ifndef DOGGED_APPS_DOGGED_PROCESS_ERRORS_H_
#define DOGGED_APPS_DOGGED_PROCESS_ERRORS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "apps/dogged/process/exit_code.h"

namespace dogged {

void PrintError(absl::string_view what);
// With the exit status that goes with it. An interrupt is no error, and has
// words of its own.
ExitCode PrintError(const absl::Status& status);
// With kMistyped, whatever the status.
ExitCode PrintMistyped(const absl::Status& status);
// Writes `words` to standard error and ends the process; fit for handlers of
// signals, and without memory.
[[noreturn]] void EndWith(absl::string_view words, ExitCode code);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_PROCESS_ERRORS_H_

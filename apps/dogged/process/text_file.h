// Files that people write: programs, descriptions.
#ifndef DOGGED_APPS_DOGGED_PROCESS_TEXT_FILE_H_
#define DOGGED_APPS_DOGGED_PROCESS_TEXT_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dogged {

// A file of at most 16 MB as it is, but for a byte order mark; `what` it should
// be is for messages. Errors: kNotFound, also for a directory, a device, a
// pipe; kInvalidArgument for a larger one.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     absl::string_view what);
// The same of a program text.
absl::StatusOr<std::string> ReadText(const std::string& path);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_PROCESS_TEXT_FILE_H_

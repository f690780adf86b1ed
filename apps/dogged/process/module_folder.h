// The folder of the modules that an agent loads, and of the libraries that
// these are linked with. An installed program finds it relative to itself, so
// that a prefix may be moved.
#ifndef DOGGED_APPS_DOGGED_PROCESS_MODULE_FOLDER_H_
#define DOGGED_APPS_DOGGED_PROCESS_MODULE_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dogged {

// The path of this program itself, through symbolic links. Empty without /proc.
std::string ProgramPath();

// The folder that has `module`: that of the program, as in a build tree, else
// ../lib/dogged beside it, as installed. Errors: kUnavailable if neither has
// it, naming both.
absl::StatusOr<std::string> ModuleFolder(absl::string_view module);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_PROCESS_MODULE_FOLDER_H_

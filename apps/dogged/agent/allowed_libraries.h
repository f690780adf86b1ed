// AllowedLibraries: the users' libraries whose kernels an agent runs.
#ifndef DOGGED_APPS_DOGGED_AGENT_ALLOWED_LIBRARIES_H_
#define DOGGED_APPS_DOGGED_AGENT_ALLOWED_LIBRARIES_H_

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/graph/kernel.h"

namespace dogged {

class AllowedLibraries {
 public:
  // Any.
  AllowedLibraries() = default;
  // "any", "builtin" (none), or "listed:FILE", a text with a line for each, as
  // sha256sum prints them. Errors: kInvalidArgument.
  static absl::StatusOr<AllowedLibraries> Parse(const std::string& text);

  // Errors: kFailedPrecondition, naming the library and its digest.
  absl::Status Check(const KernelLibrarySpec& spec) const;

 private:
  std::string rule_ = "any";
  std::set<std::string> digests_;  // of the listed ones
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_AGENT_ALLOWED_LIBRARIES_H_

#include "apps/dogged/errors.h"

#include <cstdio>
#include <string>

#include "apps/dogged/job_source.h"

namespace dogged {

void SayError(absl::string_view what) {
  std::fprintf(stderr, "error: %s\n", std::string(what).c_str());
}

ExitCode SayError(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kCancelled) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  } else {
    SayError(status.message());
  }
  return ExitCodeOf(status);
}

}  // namespace dogged

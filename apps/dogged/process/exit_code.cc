#include "apps/dogged/process/exit_code.h"

namespace dogged {

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kDone;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kAlreadyExists:
      return ExitCode::kMistyped;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
      return ExitCode::kWrong;
    case absl::StatusCode::kUnavailable:
      return ExitCode::kNoAgents;
    case absl::StatusCode::kResourceExhausted:
      return ExitCode::kNoRoom;
    case absl::StatusCode::kCancelled:
      return ExitCode::kInterrupted;
    default:
      return ExitCode::kFailed;
  }
}

}  // namespace dogged

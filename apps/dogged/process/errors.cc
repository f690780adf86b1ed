#include "apps/dogged/process/errors.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "apps/dogged/process/answer.h"

namespace dogged {

void PrintError(absl::string_view what) {
  NoteErrorWords(what);
  std::fprintf(stderr, "error: %s\n", std::string(what).c_str());
}

ExitCode PrintError(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kCancelled) {
    NoteErrorWords(status.message());
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  } else {
    PrintError(status.message());
  }
  return ExitCodeOf(status);
}

ExitCode PrintMistyped(const absl::Status& status) {
  PrintError(status.message());
  return ExitCode::kMistyped;
}

void EndWith(absl::string_view words, ExitCode code) {
  // No words are possible where even standard error is gone.
  if (write(STDERR_FILENO, words.data(), words.size()) < 0) {
  }
  PrintAnswerAtOnce(code);
  _exit(static_cast<int>(code));
}

}  // namespace dogged

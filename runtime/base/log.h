// Text for people, on standard error, one line a call; nothing parses it.
// Thread-safe. Rate-limited per call site by the caller where it may repeat.
#ifndef DOGGED_RUNTIME_BASE_LOG_H_
#define DOGGED_RUNTIME_BASE_LOG_H_

#include "absl/strings/string_view.h"

namespace dogged {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Messages below `level` are dropped. The default is kInfo.
void SetLogLevel(LogLevel level);
// Put before every line, e.g. "agent 3f2a: ".
void SetLogPrefix(absl::string_view prefix);
void Log(LogLevel level, absl::string_view text);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_LOG_H_

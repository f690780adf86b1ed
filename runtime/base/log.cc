#include "runtime/base/log.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>

#include "absl/strings/str_cat.h"

namespace dogged {
namespace {
struct LogState {
  std::atomic<LogLevel> level = LogLevel::kInfo;
  std::mutex mutex;
  std::string prefix;
};
LogState& State() {
  static LogState* state = new LogState;  // outlives every thread
  return *state;
}
}  // namespace

void SetLogLevel(LogLevel level) { State().level = level; }

void SetLogPrefix(absl::string_view prefix) {
  std::lock_guard<std::mutex> lock(State().mutex);
  State().prefix = std::string(prefix);
}

void Log(LogLevel level, absl::string_view text) {
  if (level < State().level) return;
  std::lock_guard<std::mutex> lock(State().mutex);
  const std::string line = absl::StrCat(State().prefix, text, "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace dogged

#include "runtime/exec/host_load.h"

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace dogged {

std::optional<int> RunnableThreads() {
  std::ifstream in("/proc/loadavg");
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  return RunnableOf(line);
}

std::optional<int> RunnableOf(absl::string_view loadavg) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(loadavg, ' ', absl::SkipEmpty());
  if (words.size() < 4) return std::nullopt;
  const std::vector<absl::string_view> counts = absl::StrSplit(words[3], '/');
  int runnable = 0;
  if (counts.size() != 2 || !absl::SimpleAtoi(counts[0], &runnable) ||
      runnable < 0) {
    return std::nullopt;
  }
  return runnable;
}

}  // namespace dogged

#include "apps/dogged/process/cgroup_limits.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace dogged {
namespace {

// Version 1 says no limit by a number beyond any memory.
constexpr int64_t kBytesMax = int64_t{1} << 60;

// Words of a file; none without one.
std::vector<std::string> WordsOf(const std::string& path) {
  std::vector<std::string> out;
  std::ifstream file(path);
  for (std::string word; file >> word;) out.push_back(word);
  return out;
}

// "/a/b", "/a", "".
std::vector<std::string> FoldersUpFrom(absl::string_view path) {
  std::vector<std::string> out;
  while (!path.empty() && path != "/") {
    out.emplace_back(path);
    path = path.substr(0, path.rfind('/'));
  }
  out.emplace_back();
  return out;
}

void TakeMemory(const std::string& file, CgroupLimits& out) {
  const std::vector<std::string> words = WordsOf(file);
  int64_t bytes = 0;
  if (words.empty() || !absl::SimpleAtoi(words[0], &bytes)) return;  // "max"
  if (bytes <= 0 || bytes >= kBytesMax) return;
  if (out.memory_bytes == 0 || bytes < out.memory_bytes) {
    out.memory_bytes = bytes;
  }
}

// `words`: microseconds of processors, and of time.
void TakeProcessors(const std::vector<std::string>& words, CgroupLimits& out) {
  double quota = 0;
  double period = 0;
  if (words.size() < 2 || !absl::SimpleAtod(words[0], &quota) ||
      !absl::SimpleAtod(words[1], &period) || quota <= 0 || period <= 0) {
    return;
  }
  const double processors = quota / period;
  if (out.processors == 0 || processors < out.processors) {
    out.processors = processors;
  }
}

void TakeVersion1(const std::string& base, absl::string_view path,
                  CgroupLimits& out) {
  for (const std::string& folder : FoldersUpFrom(path)) {
    const std::string place = absl::StrCat(base, folder);
    TakeMemory(absl::StrCat(place, "/memory.limit_in_bytes"), out);
    std::vector<std::string> words =
        WordsOf(absl::StrCat(place, "/cpu.cfs_quota_us"));
    for (std::string& word :
         WordsOf(absl::StrCat(place, "/cpu.cfs_period_us"))) {
      words.push_back(std::move(word));
    }
    TakeProcessors(words, out);
  }
}

void TakeVersion2(const std::string& base, absl::string_view path,
                  CgroupLimits& out) {
  for (const std::string& folder : FoldersUpFrom(path)) {
    const std::string place = absl::StrCat(base, folder);
    TakeMemory(absl::StrCat(place, "/memory.max"), out);
    TakeProcessors(WordsOf(absl::StrCat(place, "/cpu.max")), out);
  }
}

}  // namespace

CgroupLimits ReadCgroupLimits(const std::string& membership,
                              const std::string& mount) {
  CgroupLimits out;
  std::ifstream lines(membership);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() < 3) continue;
    const std::string& controllers = parts[1];
    if (controllers.empty()) {
      TakeVersion2(mount, parts[2], out);
      continue;
    }
    for (const absl::string_view one : absl::StrSplit(controllers, ',')) {
      if (one != "memory" && one != "cpu") continue;
      TakeVersion1(absl::StrCat(mount, "/", controllers), parts[2], out);
      TakeVersion1(absl::StrCat(mount, "/", one), parts[2], out);
    }
  }
  return out;
}

}  // namespace dogged

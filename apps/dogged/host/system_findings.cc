#include "apps/dogged/host/system_findings.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "apps/dogged/agent/agent_needs.h"
#include "apps/dogged/process/memory.h"
#include "apps/output/file.h"
#include "apps/output/run_text.h"
#include "routing/memory/arena.h"
#include "runtime/base/clock.h"
#include "runtime/exec/cpu_layout_hwloc.h"

namespace dogged {
namespace {

using Level = Finding::Level;

constexpr char kHugePages[] = "/sys/kernel/mm/transparent_hugepage/";
// Room for a few hundred other agents and clients.
constexpr rlim_t kDescriptorsGood = 1024;
constexpr rlim_t kAddressesGood = rlim_t{2} << 30;
constexpr int64_t kDiskGood = int64_t{1} << 30;
constexpr int64_t kMemoryGood = int64_t{512} << 20;
// A worker looks at the clock twice a task.
constexpr absl::Duration kClockGood = absl::Microseconds(1);
constexpr int kClockLooks = 2000;

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string out;
  std::getline(file, out);
  return out;
}

// The chosen one of "always [madvise] never"; empty if there is no such file.
std::string ChosenIn(const std::string& path) {
  const std::vector<std::string> parts =
      absl::StrSplit(FirstLine(path), absl::ByAnyChar("[]"));
  return parts.size() == 3 ? parts[1] : "";
}

// Linux 6.1 makes huge pages of shared memory on request.
bool CanCollapse() {
  utsname name = {};
  uname(&name);
  const std::vector<std::string> numbers = absl::StrSplit(name.release, '.');
  int major = 0;
  int minor = 0;
  if (numbers.size() < 2 || !absl::SimpleAtoi(numbers[0], &major)) return false;
  (void)absl::SimpleAtoi(numbers[1].substr(0, numbers[1].find('-')), &minor);
  return major > 6 || (major == 6 && minor >= 1);
}

Finding HugePages() {
  const std::string chosen = ChosenIn(absl::StrCat(kHugePages, "enabled"));
  if (chosen.empty()) {
    return {Level::kWarning, "huge pages",
            "this Linux has none: tasks start later, and values take more time",
            "a kernel with CONFIG_TRANSPARENT_HUGEPAGE has them"};
  }
  if (chosen == "never") {
    return {Level::kWarning, "huge pages",
            "switched off: tasks start later, and values take more time",
            absl::StrCat("as root: echo madvise > ", kHugePages, "enabled")};
  }
  return {Level::kOk, "huge pages", chosen, ""};
}

Finding SharedHugePages() {
  const std::string file = absl::StrCat(kHugePages, "shmem_enabled");
  const std::string chosen = ChosenIn(file);
  if (CanCollapse() && chosen != "deny" && !chosen.empty()) {
    return {Level::kOk, "huge pages, shared", chosen, ""};
  }
  if (chosen == "always" || chosen == "advise" || chosen == "within_size" ||
      chosen == "force") {
    return {Level::kOk, "huge pages, shared", chosen, ""};
  }
  return {Level::kWarning, "huge pages, shared",
          "none for values that agents of this host lend each other",
          absl::StrCat("as root: echo advise > ", file)};
}

std::string LimitText(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : absl::StrCat(limit);
}

rlimit LimitOf(__rlimit_resource resource) {
  rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(resource, &limit);
  return limit;
}

Finding Descriptors() {
  // An agent takes what it may.
  const rlim_t limit = LimitOf(RLIMIT_NOFILE).rlim_max;
  const std::string way_out =
      "raise `ulimit -Hn`, or nofile in /etc/security/limits.conf";
  if (limit < rlim_t{kAgentDescriptors}) {
    return {Level::kError, "descriptors",
            absl::StrCat("limited to ", limit, ": an agent takes ",
                         kAgentDescriptors, " to begin with"),
            way_out};
  }
  if (limit < kDescriptorsGood) {
    return {Level::kWarning, "descriptors",
            absl::StrCat("limited to ", limit,
                         ": each other agent and each client takes some"),
            way_out};
  }
  return {Level::kOk, "descriptors", LimitText(limit), ""};
}

Finding Addresses() {
  const rlim_t limit = LimitOf(RLIMIT_AS).rlim_cur;
  if (limit >= kAddressesGood) {
    return {Level::kOk, "addresses",
            limit == RLIM_INFINITY ? "unlimited"
                                   : HumanBytes(static_cast<int64_t>(limit)),
            ""};
  }
  const bool is_error = limit < rlim_t{kAgentAddresses};
  return {is_error ? Level::kError : Level::kWarning, "addresses",
          absl::StrCat("limited to ", limit >> 10, " KB (ulimit -v): ",
                       is_error ? "no agent starts"
                                : "values and tile kernels may find none"),
          "ulimit -v unlimited"};
}

Finding LockedMemory() {
  const rlim_t limit = LimitOf(RLIMIT_MEMLOCK).rlim_cur;
  const std::string text = limit == RLIM_INFINITY
                               ? "unlimited"
                               : HumanBytes(static_cast<int64_t>(limit));
  return {Level::kOk, "locked memory",
          absl::StrCat(text, "; nothing locks any: messages go by TCP"), ""};
}

Finding SharedMemoryHere() {
  struct statvfs at = {};
  std::string size = "no /dev/shm";
  if (statvfs("/dev/shm", &at) == 0) {
    size = absl::StrCat("/dev/shm of ",
                        HumanBytes(static_cast<int64_t>(at.f_blocks) *
                                   static_cast<int64_t>(at.f_frsize)));
  }
  if (Arena::Create({.bytes = int64_t{64} << 20}) == nullptr) {
    return {Level::kWarning, "shared memory",
            "can't be made: agents of this host send values instead of "
            "lending them",
            "allow memfd_create() and raise `ulimit -v` and `ulimit -f`"};
  }
  return {Level::kOk, "shared memory",
          absl::StrCat("by memfd, which no size of a file system bounds (",
                       size, ")"),
          ""};
}

Finding Memory() {
  const int64_t bytes = PhysicalBytes();
  if (bytes < kMemoryGood) {
    return {Level::kWarning, "memory",
            absl::StrCat(HumanBytes(bytes),
                         ": an agent takes some 100 MB "
                         "before it has any value"),
            "give agents --memory, and run few of them"};
  }
  return {Level::kOk, "memory", HumanBytes(bytes), ""};
}

Finding Processors() {
  const int count = ReadCpuLayout().size();
  return {Level::kOk, "processors",
          absl::StrCat(count, " that this process may use"), ""};
}

Finding ClockHere() {
  SystemClock clock;
  const absl::Time begin = clock.Now();
  for (int i = 0; i < kClockLooks; ++i) (void)clock.Now();
  const absl::Duration look = (clock.Now() - begin) / kClockLooks;
  const std::string source = FirstLine(
      "/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const std::string words =
      absl::StrCat("a look takes ", absl::ToInt64Nanoseconds(look), " ns",
                   source.empty() ? "" : absl::StrCat(" (", source, ")"));
  if (look < absl::ZeroDuration() || look > kClockGood) {
    return {Level::kWarning, "clock",
            absl::StrCat(words, ": each task looks at it"),
            "a computer whose clock source is tsc or kvm-clock has a faster "
            "one"};
  }
  return {Level::kOk, "clock", words, ""};
}

// "tmpfs"; empty if that can't be found out.
std::string FileSystemOf(const std::string& folder) {
  std::ifstream mounts("/proc/self/mounts");
  std::string line;
  std::string out;
  size_t longest = 0;
  while (std::getline(mounts, line)) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() < 3 || words[1].size() < longest) continue;
    const std::string below = words[1] == "/" ? "/" : words[1] + "/";
    if (folder != words[1] && !absl::StartsWith(folder, below)) continue;
    longest = words[1].size();
    out = words[2];
  }
  return out;
}

Finding Disk(const std::string& subject, const std::string& folder,
             Level if_unfit, const std::string& way_out) {
  namespace fs = std::filesystem;
  std::error_code error;
  // One that an agent would make, where its parent is there.
  fs::path there = fs::absolute(folder, error);
  while (!fs::exists(there, error) && there.has_relative_path()) {
    there = there.parent_path();
  }
  if (!fs::is_directory(there, error)) {
    return {if_unfit, subject, absl::StrCat(folder, ": is no folder"), way_out};
  }
  const absl::Status writable =
      CheckWritable(absl::StrCat(there.string(), "/.dogged-doctor"));
  if (!writable.ok()) {
    return {if_unfit, subject, std::string(writable.message()), way_out};
  }
  const fs::space_info space = fs::space(there, error);
  const int64_t available = error ? 0 : static_cast<int64_t>(space.available);
  const std::string words =
      absl::StrCat(folder, ": ", HumanBytes(available), " are free");
  const std::string system = FileSystemOf(there.string());
  if (system == "tmpfs" || system == "ramfs") {
    return {Level::kWarning, subject,
            absl::StrCat(words, ", but it is memory itself (", system, ")"),
            way_out};
  }
  if (available < kDiskGood) {
    return {Level::kWarning, subject, words, way_out};
  }
  return {Level::kOk, subject, words, ""};
}

}  // namespace

std::vector<Finding> SystemFindings(const WrittenFolders& folders) {
  std::vector<Finding> out = {
      Processors(),
      Memory(),
      HugePages(),
      SharedHugePages(),
      Addresses(),
      Descriptors(),
      LockedMemory(),
      SharedMemoryHere(),
      ClockHere(),
      Disk("disk, spilling", folders.temporary, Level::kWarning,
           "name a folder of a disk with room in TMPDIR")};
  if (!folders.directory.empty()) {
    out.push_back(Disk("disk, values", folders.directory, Level::kError,
                       "name another folder in DOGGED_DIR"));
  }
  return out;
}

}  // namespace dogged

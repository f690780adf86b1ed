#include "apps/dogged/process/memory.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <new>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/process/exit_code.h"

namespace dogged {
namespace {

// Stack of a thread, where stacks are not limited.
constexpr int64_t kStackBytes = 2 << 20;

// None without a limit.
std::optional<int64_t> FiniteLimit(__rlimit_resource resource) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return static_cast<int64_t>(limit.rlim_cur);
}

// The resource whose lack ends the process; null if something else does.
const char* Lacking() {
  const std::exception_ptr exception = std::current_exception();
  if (exception == nullptr) return nullptr;
  try {
    std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    return "memory";
  } catch (const std::system_error& error) {
    const bool is_lack =
        error.code() == std::errc::resource_unavailable_try_again ||
        error.code() == std::errc::not_enough_memory;
    return is_lack ? "memory for one more thread" : nullptr;
  } catch (...) {
    return nullptr;
  }
}

// Ends the process. No memory may be needed here.
[[noreturn]] void Terminate() {
  const char* lacking = Lacking();
  if (lacking == nullptr) std::abort();
  char words[400];
  const std::optional<int64_t> limit = FiniteLimit(RLIMIT_AS);
  const int length =
      limit.has_value()
          ? std::snprintf(words, sizeof(words),
                          "error: no %s: addresses are limited to %lld KB "
                          "(ulimit -v); raise that, or bound what values take "
                          "with --memory\n",
                          lacking, static_cast<long long>(*limit >> 10))
          : std::snprintf(words, sizeof(words),
                          "error: no %s beyond the %lld KB that this process "
                          "has had; bound what values take with --memory\n",
                          lacking,
                          static_cast<long long>(PeakResidentBytes() >> 10));
  EndWith({words, static_cast<size_t>(length)}, ExitCode::kNoRoom);
}

}  // namespace

int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  if (!(statm >> pages >> pages)) return 0;
  return pages * sysconf(_SC_PAGESIZE);
}

int64_t PhysicalBytes() {
  return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

std::optional<int64_t> ProcessLimit() {
  const std::optional<int64_t> addresses = FiniteLimit(RLIMIT_AS);
  const std::optional<int64_t> data = FiniteLimit(RLIMIT_DATA);
  if (!addresses.has_value()) return data;
  return data.has_value() ? std::min(*addresses, *data) : addresses;
}

int64_t PeakResidentBytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

void PrepareForScarcity() {
  std::set_terminate(Terminate);
  if (FiniteLimit(RLIMIT_AS).has_value()) mallopt(M_ARENA_MAX, 1);
}

absl::Status CheckAddresses(const std::string& who, int64_t bytes,
                            int threads) {
  const std::optional<int64_t> limit = FiniteLimit(RLIMIT_AS);
  const int64_t stack = FiniteLimit(RLIMIT_STACK).value_or(kStackBytes);
  const int64_t needed = bytes + threads * stack;
  if (!limit.has_value() || *limit >= needed) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "addresses are limited to ", *limit >> 10, " KB (ulimit -v): ", who,
      " takes ", (needed + 1023) >> 10, " KB to begin with; `ulimit -v ",
      (needed + 1023) >> 10, "` would do"));
}

absl::Status TakeDescriptors(const std::string& who, int64_t needed) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return absl::OkStatus();
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
      limit.rlim_cur >= static_cast<rlim_t>(needed)) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("descriptors are limited to ", limit.rlim_cur,
                   " (ulimit -n): ", who, " takes ", needed,
                   " to begin with, and some for each other agent; raise "
                   "that"));
}

absl::Status OrNoAddresses(const absl::Status& status) {
  const std::optional<int64_t> limit = FiniteLimit(RLIMIT_AS);
  if (status.ok() || !limit.has_value()) return status;
  return absl::ResourceExhaustedError(
      absl::StrCat(status.message(), "; addresses are limited to ",
                   *limit >> 10, " KB (ulimit -v), raise that"));
}

}  // namespace dogged

#include "runtime/exec/kernels/compile_turn.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/clock.h"

namespace dogged {
namespace {

// A holder that dies takes its lock along, and nothing tells so.
constexpr absl::Duration kAskAgain = absl::Milliseconds(500);

bool IsThere(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

}  // namespace

CompileTurn::CompileTurn(std::string path, absl::Duration patience,
                         absl::FunctionRef<bool()> is_interrupted)
    : path_(std::move(path)), lock_path_(absl::StrCat(path_, ".lock")) {
  if (TryLock()) return;
  const std::string folder = std::filesystem::path(path_).parent_path();
  const int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (watch < 0) return;
  (void)inotify_add_watch(watch, folder.c_str(), IN_MOVED_TO | IN_DELETE);
  SystemClock clock;
  const absl::Time end = clock.Now() + patience;
  // Looked at once more behind the watch: it may have come before that.
  while (!IsThere(path_) && !TryLock() && lock_ >= 0 && !is_interrupted()) {
    const absl::Duration left = end - clock.Now();
    if (left <= absl::ZeroDuration()) break;
    pollfd wanted{.fd = watch, .events = POLLIN, .revents = 0};
    const absl::Duration wait = std::min(left, kAskAgain);
    (void)poll(&wanted, 1,
               static_cast<int>(absl::ToInt64Milliseconds(wait)) + 1);
    std::array<char, 4096> events;
    while (read(watch, events.data(), events.size()) > 0) {
    }
  }
  close(watch);
}

CompileTurn::~CompileTurn() {
  // Before the lock goes: a later process makes a file of its own.
  if (has_lock_) unlink(lock_path_.c_str());
  if (lock_ >= 0) close(lock_);
}

// True if this process has the turn.
bool CompileTurn::TryLock() {
  if (lock_ >= 0) close(lock_);
  lock_ = open(lock_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  has_lock_ = lock_ >= 0 && flock(lock_, LOCK_EX | LOCK_NB) == 0;
  const bool is_busy = lock_ >= 0 && !has_lock_ && errno == EWOULDBLOCK;
  if (has_lock_ || is_busy) return has_lock_;
  if (lock_ >= 0) close(lock_);
  lock_ = -1;
  return false;
}

}  // namespace dogged

#include "routing/poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"

namespace dogged {

absl::StatusOr<std::unique_ptr<Poller>> Poller::Create() {
  const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  const int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (epoll_fd < 0 || wake_fd < 0) {
    if (epoll_fd >= 0) close(epoll_fd);
    if (wake_fd >= 0) close(wake_fd);
    return absl::ResourceExhaustedError(
        absl::StrCat("no descriptors left for a poller: error ", errno));
  }
  std::unique_ptr<Poller> poller(new Poller(epoll_fd, wake_fd));
  poller->Watch(wake_fd);
  return poller;
}

Poller::~Poller() {
  close(wake_fd_);
  close(epoll_fd_);
}

void Poller::Watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  const bool added = epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) == 0;
  DOGGED_CHECK(added || errno == EEXIST) << "fd " << fd << " error " << errno;
}

void Poller::Unwatch(int fd) {
  epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
}

bool Poller::Wait(absl::Duration timeout) {
  int timeout_ms = -1;
  if (timeout < absl::Milliseconds(INT_MAX)) {
    timeout_ms = static_cast<int>(std::max<int64_t>(
        0,
        absl::ToInt64Milliseconds(absl::Ceil(timeout, absl::Milliseconds(1)))));
  }
  epoll_event ready[8];
  const int count = epoll_wait(epoll_fd_, ready, 8, timeout_ms);
  for (int i = 0; i < count; ++i) {
    if (ready[i].data.fd != wake_fd_) continue;
    uint64_t ignored = 0;
    (void)!read(wake_fd_, &ignored, sizeof(ignored));
  }
  return count > 0;
}

void Poller::Wake() {
  const uint64_t one = 1;
  (void)!write(wake_fd_, &one, sizeof(one));
}

}  // namespace dogged

#include "routing/control/poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
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
  const int timer_fd =
      timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (epoll_fd < 0 || wake_fd < 0 || timer_fd < 0) {
    const int error = errno;
    for (const int fd : {epoll_fd, wake_fd, timer_fd}) {
      if (fd >= 0) close(fd);
    }
    return absl::ResourceExhaustedError(
        absl::StrCat("no descriptors left for a poller: error ", error));
  }
  std::unique_ptr<Poller> poller(new Poller(epoll_fd, wake_fd, timer_fd));
  poller->Watch(wake_fd);
  poller->Watch(timer_fd);
  return poller;
}

Poller::~Poller() {
  close(timer_fd_);
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
  bool was_woken = false;
  for (int i = 0; i < count; ++i) {
    const int fd = ready[i].data.fd;
    was_woken |= fd != timer_fd_;
    if (fd != wake_fd_ && fd != timer_fd_) continue;
    uint64_t ignored = 0;
    (void)!read(fd, &ignored, sizeof(ignored));
  }
  return was_woken;
}

void Poller::Wake() {
  const uint64_t one = 1;
  (void)!write(wake_fd_, &one, sizeof(one));
}

void Poller::WakeAfter(absl::Duration delay) {
  itimerspec when{};
  when.it_value =
      absl::ToTimespec(std::max(delay, absl::Nanoseconds(1)));  // 0: never
  timerfd_settime(timer_fd_, 0, &when, nullptr);
}

}  // namespace dogged

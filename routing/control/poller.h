// Poller: sleeps until a descriptor is ready, a time has passed, or someone
// wakes it. The agent's loop sleeps in one of these and nowhere else.
#ifndef DOGGED_ROUTING_CONTROL_POLLER_H_
#define DOGGED_ROUTING_CONTROL_POLLER_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace dogged {

class Poller {
 public:
  // Errors: kResourceExhausted without descriptors.
  static absl::StatusOr<std::unique_ptr<Poller>> Create();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // From now on Wait ends when `fd` is readable. The caller keeps `fd`, and
  // unwatches it before closing it.
  void Watch(int fd);
  void Unwatch(int fd);

  // Sleeps at most `timeout` (rounded up to milliseconds; infinite is
  // allowed); true if something was ready or Wake was called.
  bool Wait(absl::Duration timeout);

  // Ends the present Wait, or the next one. From any thread, and from signal
  // handlers.
  void Wake();
  // Ends it after `delay`, which is finite, as a timeout does; the last call
  // counts. Costs another thread less than to wake the sleeper for a new
  // timeout.
  void WakeAfter(absl::Duration delay);

 private:
  Poller(int epoll_fd, int wake_fd, int timer_fd)
      : epoll_fd_(epoll_fd), wake_fd_(wake_fd), timer_fd_(timer_fd) {}
  int epoll_fd_;
  int wake_fd_;
  int timer_fd_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_POLLER_H_

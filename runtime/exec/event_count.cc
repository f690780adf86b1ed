#include "runtime/exec/event_count.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace dogged {

EventCount::~EventCount() {
  if (bell_ >= 0) close(bell_);
}

void EventCount::Wait(uint64_t ticket) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return epoch_.load() != ticket; });
  waiter_count_.fetch_sub(1, std::memory_order_seq_cst);
}

bool EventCount::WaitForReader(uint64_t ticket, int fd, absl::Duration limit) {
  std::unique_lock lock(mutex_);
  if (bell_ < 0) bell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (has_reader_ || bell_ < 0) {
    lock.unlock();
    Wait(ticket);
    return false;
  }
  bool is_readable = false;
  if (epoch_.load() == ticket) {
    has_reader_ = true;
    lock.unlock();
    pollfd waiting[] = {{.fd = bell_, .events = POLLIN, .revents = 0},
                        {.fd = fd, .events = POLLIN, .revents = 0}};
    poll(waiting, 2,
         static_cast<int>(
             std::max<int64_t>(0, absl::ToInt64Milliseconds(limit))));
    is_readable = (waiting[1].revents & POLLIN) != 0;
    lock.lock();
    has_reader_ = false;
    uint64_t ignored = 0;
    if (std::exchange(has_rung_, false)) {
      (void)!read(bell_, &ignored, sizeof(ignored));
    }
  }
  waiter_count_.fetch_sub(1, std::memory_order_seq_cst);
  return is_readable;
}

bool EventCount::Advance() {
  const std::lock_guard lock(mutex_);
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  if (!has_reader_ || has_rung_) return false;
  const uint64_t one = 1;
  has_rung_ = write(bell_, &one, sizeof(one)) > 0;
  return has_rung_;
}

}  // namespace dogged

#include "runtime/exec/event_count.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

namespace dogged {

EventCount::~EventCount() {
  if (bell_ >= 0) close(bell_);
}

void EventCount::Wait(uint64_t ticket) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return epoch_.load() != ticket; });
  waiter_count_.fetch_sub(1, std::memory_order_seq_cst);
}

void EventCount::WaitForReader(uint64_t ticket, int fd, absl::Duration limit) {
  std::unique_lock lock(mutex_);
  if (bell_ < 0) bell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (has_reader_ || bell_ < 0) {
    lock.unlock();
    return Wait(ticket);
  }
  if (epoch_.load() == ticket) {
    has_reader_ = true;
    lock.unlock();
    pollfd waiting[] = {{.fd = bell_, .events = POLLIN, .revents = 0},
                        {.fd = fd, .events = POLLIN, .revents = 0}};
    poll(waiting, 2,
         static_cast<int>(
             std::max<int64_t>(0, absl::ToInt64Milliseconds(limit))));
    lock.lock();
    uint64_t ignored = 0;
    (void)!read(bell_, &ignored, sizeof(ignored));
    has_reader_ = false;
    has_rung_ = false;
  }
  waiter_count_.fetch_sub(1, std::memory_order_seq_cst);
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

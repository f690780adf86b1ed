// EventCount: lets workers sleep until there may be work, without a lock on the
// side that makes work while nobody sleeps. Thread-safe.
//
//   sleeper:  ticket = PrepareWait(); if (work) CancelWait() else Wait(ticket)
//   other:    make work visible by a sequentially consistent store; Notify...()
#ifndef DOGGED_RUNTIME_EXEC_EVENT_COUNT_H_
#define DOGGED_RUNTIME_EXEC_EVENT_COUNT_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "absl/time/time.h"

namespace dogged {

class EventCount {
 public:
  EventCount() = default;
  ~EventCount();
  EventCount(const EventCount&) = delete;
  EventCount& operator=(const EventCount&) = delete;

  // Announces a sleep. The caller then looks for work once more.
  uint64_t PrepareWait() {
    waiter_count_.fetch_add(1, std::memory_order_seq_cst);
    return epoch_.load(std::memory_order_seq_cst);
  }
  void CancelWait() { waiter_count_.fetch_sub(1, std::memory_order_seq_cst); }
  // Returns at once if there was a notification since PrepareWait().
  void Wait(uint64_t ticket);
  // The same; returns also when `fd` is readable, which is true then, or after
  // `limit`. For one sleeper at a time: another one, while there is that, waits
  // as in Wait().
  bool WaitForReader(uint64_t ticket, int fd, absl::Duration limit);
  // At least one sleeper wakes, if there is one.
  void NotifyOne() {
    if (waiter_count_.load(std::memory_order_seq_cst) == 0) return;
    if (!Advance()) changed_.notify_one();
  }
  void NotifyAll() {
    if (waiter_count_.load(std::memory_order_seq_cst) == 0) return;
    Advance();
    changed_.notify_all();
  }

 private:
  // True if that has woken the thread that waits for a descriptor.
  bool Advance();

  std::atomic<int> waiter_count_{0};
  std::atomic<uint64_t> epoch_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  // Wakes the thread that waits for a descriptor; made for the first one. Under
  // mutex_.
  int bell_ = -1;
  bool has_reader_ = false;  // a thread waits for a descriptor
  bool has_rung_ = false;    // since it began to
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_EVENT_COUNT_H_

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

namespace dogged {

class EventCount {
 public:
  // Announces a sleep. The caller then looks for work once more.
  uint64_t PrepareWait() {
    waiter_count_.fetch_add(1, std::memory_order_seq_cst);
    return epoch_.load(std::memory_order_seq_cst);
  }
  void CancelWait() { waiter_count_.fetch_sub(1, std::memory_order_seq_cst); }
  // Returns at once if there was a notification since PrepareWait().
  void Wait(uint64_t ticket) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return epoch_.load() != ticket; });
    waiter_count_.fetch_sub(1, std::memory_order_seq_cst);
  }
  // At least one sleeper wakes, if there is one.
  void NotifyOne() {
    if (!Advance()) return;
    changed_.notify_one();
  }
  void NotifyAll() {
    if (!Advance()) return;
    changed_.notify_all();
  }

 private:
  bool Advance() {
    if (waiter_count_.load(std::memory_order_seq_cst) == 0) return false;
    const std::lock_guard lock(mutex_);
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    return true;
  }

  std::atomic<int> waiter_count_{0};
  std::atomic<uint64_t> epoch_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_EVENT_COUNT_H_

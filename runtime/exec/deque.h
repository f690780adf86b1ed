// Deque: the ready tasks of one worker. The owner pushes and pops at the new
// end, thieves take from the old end; ordered by priority, both take the most
// urgent task. Thread-safe.
//
// A lock and not the lock-free deque of Chase and Lev: uncontended it costs
// a few ns, and most tasks never come here, because a consumer that became
// ready runs next on the worker that made it so. Grows with the frontier; the
// owner looks at size() before it pushes, to keep that small.
#ifndef DOGGED_RUNTIME_EXEC_DEQUE_H_
#define DOGGED_RUNTIME_EXEC_DEQUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/exec/spin_lock.h"
#include "runtime/exec/urgency_heap.h"

namespace dogged {

// `Item` has a member `priority`; a larger one is more urgent.
template <typename Item>
class alignas(64) Deque {
 public:
  // With `by_priority`, the newest among equals comes first.
  explicit Deque(bool by_priority = false) : by_priority_(by_priority) {}

  void Push(std::unique_ptr<Item> item) {
    const std::lock_guard lock(mutex_);
    if (by_priority_) {
      heap_.Push(std::move(item));
    } else {
      if (line_count_ == line_.size()) GrowLine();
      line_[(line_first_ + line_count_++) & (line_.size() - 1)] =
          std::move(item);
    }
    Publish();
  }
  // The newest, or the most urgent; null if there is none.
  std::unique_ptr<Item> PopNewest() {
    if (size() == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    if (by_priority_) return PopUrgent();
    if (line_count_ == 0) return nullptr;
    std::unique_ptr<Item> out =
        std::move(line_[(line_first_ + --line_count_) & (line_.size() - 1)]);
    Publish();
    return out;
  }
  // The oldest, or the most urgent; null if there is none.
  std::unique_ptr<Item> StealOldest() {
    if (size() == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    if (by_priority_) return PopUrgent();
    if (line_count_ == 0) return nullptr;
    std::unique_ptr<Item> out = std::move(line_[line_first_]);
    line_first_ = (line_first_ + 1) & (line_.size() - 1);
    --line_count_;
    Publish();
    return out;
  }
  // Whether there is an item of a larger priority; false without priorities.
  bool HasMoreUrgent(int64_t priority) {
    if (!by_priority_ || size() == 0) return false;
    const std::lock_guard lock(mutex_);
    return heap_.size() > 0 && heap_.MostUrgent() > priority;
  }
  // Sequentially consistent with EventCount: a worker that announced its sleep
  // and then sees 0 is seen by a later push.
  int64_t size() const { return size_.load(std::memory_order_seq_cst); }

 private:
  std::unique_ptr<Item> PopUrgent() {
    std::unique_ptr<Item> out = heap_.Pop();
    if (out != nullptr) Publish();
    return out;
  }
  void GrowLine() {
    std::vector<std::unique_ptr<Item>> larger(line_.empty() ? 64
                                                            : 2 * line_.size());
    for (size_t i = 0; i < line_count_; ++i) {
      larger[i] = std::move(line_[(line_first_ + i) & (line_.size() - 1)]);
    }
    line_ = std::move(larger);
    line_first_ = 0;
  }
  // Only the step from none to one can end a sleeper's wait.
  void Publish() {
    const auto size = static_cast<int64_t>(line_count_ + heap_.size());
    size_.store(size, size == 1 ? std::memory_order_seq_cst
                                : std::memory_order_release);
  }

  const bool by_priority_;
  SpinLock mutex_;
  // A ring, oldest first; its size is a power of two, or 0.
  std::vector<std::unique_ptr<Item>> line_;
  size_t line_first_ = 0;
  size_t line_count_ = 0;
  UrgencyHeap<Item> heap_;
  std::atomic<int64_t> size_{0};
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_DEQUE_H_

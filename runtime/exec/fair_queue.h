// FairQueue: the ready tasks of one worker, which may be of several jobs. Jobs
// take turns, task by task, and each gives its most urgent task, the newest
// among equals: priorities of two programs can't be compared, and a large job
// would never let a small one in. Thread-safe.
//
// Source: Nagle 1987, On Packet Switches with Infinite Storage, section on fair
// queueing, with jobs for hosts.
#ifndef DOGGED_RUNTIME_EXEC_FAIR_QUEUE_H_
#define DOGGED_RUNTIME_EXEC_FAIR_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/exec/spin_lock.h"
#include "runtime/exec/urgency_heap.h"

namespace dogged {

// `Item` has the members `job` and `priority`; a larger one is more urgent.
template <typename Item>
class alignas(64) FairQueue {
 public:
  void Push(std::unique_ptr<Item> item) {
    const std::lock_guard lock(mutex_);
    UrgencyHeap<Item>& heap = LaneOf(item->job).heap;
    heap.Push(std::move(item));
    Publish(size() + 1);
  }
  // Null if there is none. Owner and thieves take the same.
  std::unique_ptr<Item> PopNewest() { return Pop(); }
  std::unique_ptr<Item> StealOldest() { return Pop(); }
  // As Deque::size().
  int64_t size() const { return size_.load(std::memory_order_seq_cst); }

 private:
  struct Lane {
    JobId job;
    UrgencyHeap<Item> heap;
  };

  std::unique_ptr<Item> Pop() {
    if (size() == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    for (size_t step = 0; step < lanes_.size(); ++step) {
      auto item = lanes_[turn_++ % lanes_.size()].heap.Pop();
      if (item == nullptr) continue;
      Publish(size() - 1);
      return item;
    }
    return nullptr;
  }
  // The lane of a job that has nothing here may become another's.
  Lane& LaneOf(JobId job) {
    Lane* empty = nullptr;
    for (Lane& lane : lanes_) {
      if (lane.job == job) return lane;
      if (lane.heap.size() == 0) empty = &lane;
    }
    if (empty == nullptr) empty = &lanes_.emplace_back();
    empty->job = job;
    return *empty;
  }
  // Only the step from none to one can end a sleeper's wait.
  void Publish(int64_t size) {
    size_.store(size, size == 1 ? std::memory_order_seq_cst
                                : std::memory_order_release);
  }

  SpinLock mutex_;
  std::vector<Lane> lanes_;
  size_t turn_ = 0;
  std::atomic<int64_t> size_{0};
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_FAIR_QUEUE_H_

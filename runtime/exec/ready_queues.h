// ReadyQueues: a queue for each worker, stealing in order of distance, and
// sleep for workers that find no task. Thread-safe.
#ifndef DOGGED_RUNTIME_EXEC_READY_QUEUES_H_
#define DOGGED_RUNTIME_EXEC_READY_QUEUES_H_

#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/exec/cpu_layout.h"
#include "runtime/exec/event_count.h"
#include "runtime/exec/spin_lock.h"

namespace dogged {

// `Queue` is a Deque or a FairQueue of items.
template <typename Item, typename Queue>
class ReadyQueues {
 public:
  // A worker looks on for so long before it sleeps: a wake-up costs as much.
  static constexpr absl::Duration kSpin = absl::Microseconds(50);

  // `arguments` are those of each queue.
  template <typename... Arguments>
  explicit ReadyQueues(const WorkerPlacement& placement,
                       const Arguments&... arguments)
      : steal_order_(placement.steal_order) {
    for (int i = 0; i < placement.worker_count; ++i) {
      queues_.push_back(std::make_unique<Queue>(arguments...));
    }
  }

  // Queues `item` at `worker` and wakes someone if anyone sleeps.
  void Push(int worker, std::unique_ptr<Item> item) {
    At(worker).Push(std::move(item));
    sleepers_.NotifyOne();
  }
  // The newest of the worker's own; null if it has none.
  std::unique_ptr<Item> TakeOwn(int worker) { return At(worker).PopNewest(); }
  // The oldest of the nearest worker that has any; null if nobody has.
  std::unique_ptr<Item> Steal(int worker) {
    for (const int victim : steal_order_[worker]) {
      if (auto item = At(victim).StealOldest()) return item;
    }
    return nullptr;
  }
  // TakeOwn(), else Steal().
  std::unique_ptr<Item> Take(int worker) {
    if (auto item = TakeOwn(worker)) return item;
    return Steal(worker);
  }
  // Whether the worker has a task of its own with a larger priority.
  bool HasMoreUrgent(int worker, int64_t priority) {
    return At(worker).HasMoreUrgent(priority);
  }
  int64_t SizeOf(int worker) const { return queues_[worker]->size(); }
  bool IsEmpty() const {
    for (const auto& queue : queues_) {
      if (queue->size() > 0) return false;
    }
    return true;
  }
  // Looks until `is_over` may hold or a queue may have an item: true. False if
  // there is nothing kSpin after `act`, which is called now and then, last did
  // something.
  bool LookOut(absl::FunctionRef<bool()> is_over,
               absl::FunctionRef<bool()> act) {
    SystemClock clock;
    absl::Time limit = clock.Now() + kSpin;
    do {
      for (int i = 0; i < 16; ++i) {
        if (is_over() || !IsEmpty()) return true;
        CpuRelax();
      }
      if (act()) {
        limit = clock.Now() + kSpin;
      } else {
        std::this_thread::yield();  // more workers than processors, perhaps
      }
    } while (clock.Now() < limit);
    return false;
  }
  // Sleeps until `is_over` may hold or a queue may have an item; for `limit` at
  // most. With an `fd` other than -1, which one worker at a time may give, also
  // until that is readable. True if `fd` was.
  bool Sleep(absl::FunctionRef<bool()> is_over, int fd = -1,
             absl::Duration limit = absl::InfiniteDuration()) {
    const uint64_t ticket = sleepers_.PrepareWait();
    if (is_over() || !IsEmpty()) {
      sleepers_.CancelWait();
      return false;
    }
    if (fd >= 0) return sleepers_.WaitForReader(ticket, fd, limit);
    sleepers_.Wait(ticket);
    return false;
  }
  // Looks, then sleeps.
  void AwaitWork(absl::FunctionRef<bool()> is_over) {
    if (!LookOut(is_over, [] { return false; })) Sleep(is_over);
  }
  void WakeOne() { sleepers_.NotifyOne(); }
  void WakeAll() { sleepers_.NotifyAll(); }

 private:
  Queue& At(int worker) { return *queues_[worker]; }

  const std::vector<std::vector<int>> steal_order_;
  std::vector<std::unique_ptr<Queue>> queues_;
  EventCount sleepers_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_READY_QUEUES_H_

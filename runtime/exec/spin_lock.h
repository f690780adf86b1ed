// SpinLock: for a few instructions at a time, where a mutex would cost more
// than the work that it guards. Gives the processor up when it takes long, for
// the holder may have lost its own.
#ifndef DOGGED_RUNTIME_EXEC_SPIN_LOCK_H_
#define DOGGED_RUNTIME_EXEC_SPIN_LOCK_H_

#include <atomic>
#include <thread>

namespace dogged {

// Says that this thread waits for another: it then disturbs that one less.
inline void CpuRelax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

class SpinLock {
 public:
  // Lower case: the names that std::lock_guard asks for.
  void lock() {
    for (int round = 0; taken_.exchange(true, std::memory_order_acquire);) {
      while (taken_.load(std::memory_order_relaxed)) {
        CpuRelax();
        if (++round % 64 == 0) std::this_thread::yield();
      }
    }
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_SPIN_LOCK_H_

// LoopTurn: whose turn it is to run an agent's loop. The loop's own thread has
// it but while it sleeps; then a worker with nothing to run makes passes in its
// place, and so goes from its last task to the next without another thread that
// would have to wake up first. From its first pass on it looks out for messages
// as well, until it hands that back. Thread-safe.
#ifndef DOGGED_RUNTIME_EXEC_LOOP_TURN_H_
#define DOGGED_RUNTIME_EXEC_LOOP_TURN_H_

#include <atomic>
#include <mutex>

namespace dogged {

class LoopTurn {
 public:
  // The parts of the loop that a worker may run while it has the turn.
  class Loop {
   public:
    virtual ~Loop() = default;
    // Makes a pass. The loop's thread sleeps on, or is woken if it has to act;
    // no message wakes it until HandBack().
    virtual void PassForSleeper() = 0;
    virtual void HandBack() = 0;
    // The worker that made a pass has a short task before the next one. The
    // loop's thread goes on by itself if that takes too long.
    virtual void Keep() = 0;
    // There is reason for a pass. Cheap.
    virtual bool HasArrivals() const = 0;
    // Readable once there may be such reason, for a worker that listens; -1:
    // none can.
    virtual int listen_fd() const = 0;
  };

  // --- the loop's thread, which holds the lock unless it sleeps
  std::unique_lock<std::mutex> Take() { return std::unique_lock(mutex_); }
  // Workers run `loop` as well from now on, until SetLoop(nullptr). The caller
  // has the turn.
  void SetLoop(Loop* loop) {
    loop_ = loop;
    listen_fd_ = loop == nullptr ? -1 : loop->listen_fd();
  }

  // --- workers
  // Makes a pass. False, without a pass, if another thread has the turn.
  bool TryPass() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || loop_ == nullptr) return false;
    loop_->PassForSleeper();
    return true;
  }
  // Makes a pass if there is reason for one, else returns false.
  bool TryArrivals() {
    {
      const std::unique_lock lock(mutex_, std::try_to_lock);
      if (!lock.owns_lock() || loop_ == nullptr) return false;
      if (loop_->HasArrivals()) {
        loop_->PassForSleeper();
        return true;
      }
    }
    SettleHandBack();
    return false;
  }
  // Instead of a pass, before a short task: no message wakes a thread
  // meanwhile. False if another thread has the turn.
  bool TryKeep() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || loop_ == nullptr) return false;
    loop_->Keep();
    return true;
  }
  // A worker that goes to sleep listens if no other does: messages wake it in
  // place of the loop's thread, from the next HandBack() on. Returns the
  // descriptor to wait for; -1: none. The worker calls StopListening()
  // afterwards, and hands back.
  int Listen() {
    const int fd = listen_fd_;
    int nothing = -1;
    return heard_fd_.compare_exchange_strong(nothing, fd) ? fd : -1;
  }
  void StopListening() { heard_fd_ = -1; }
  // For the thread that has the turn and goes to sleep. A worker that still
  // waits for the descriptor of an earlier loop does not count.
  bool has_listener() const {
    const int fd = listen_fd_;
    return fd >= 0 && heard_fd_ == fd;
  }
  // A worker that made a pass either has a task or goes to sleep. If another
  // thread has the turn, that one also polls for messages: a worker hands back
  // after its pass, other threads call SettleHandBack().
  void HandBack() {
    is_handed_back_.store(true);
    do {
      const std::unique_lock lock(mutex_, std::try_to_lock);
      if (!lock.owns_lock()) return;
      is_handed_back_.store(false);
      if (loop_ != nullptr) loop_->HandBack();
    } while (is_handed_back_.load());
  }
  // For a thread that gave the turn back without HandBack(). A worker that met
  // it there may have listened until then, and sleepers count on a listener.
  void SettleHandBack() {
    if (is_handed_back_.load()) HandBack();
  }

 private:
  std::atomic<bool> is_handed_back_{false};  // but no thread took it
  std::atomic<int> listen_fd_{-1};
  std::atomic<int> heard_fd_{-1};  // a sleeping worker waits for it
  std::mutex mutex_;
  Loop* loop_ = nullptr;  // under mutex_
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_LOOP_TURN_H_

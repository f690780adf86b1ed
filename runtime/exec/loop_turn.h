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
  // What a worker may do of the loop, while it has the turn.
  class Loop {
   public:
    virtual ~Loop() = default;
    // One pass. The loop's thread sleeps on, or is woken if it has to act; no
    // message wakes it until HandBack().
    virtual void PassForSleeper() = 0;
    virtual void HandBack() = 0;
    // Whoever made a pass has something short to do before the next one. The
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
  // `loop` is run by workers as well from now on, until SetLoop(nullptr).
  // Whoever calls has the turn.
  void SetLoop(Loop* loop) {
    loop_ = loop;
    listen_fd_ = loop == nullptr ? -1 : loop->listen_fd();
  }

  // --- workers
  // False if somebody else has the turn, who may have to be told: no pass.
  bool TryPass() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || loop_ == nullptr) return false;
    loop_->PassForSleeper();
    return true;
  }
  // A pass if there is reason for one. False: none.
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
  // Instead, before something short: no message wakes anybody meanwhile. False
  // if somebody else has the turn.
  bool TryKeep() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || loop_ == nullptr) return false;
    loop_->Keep();
    return true;
  }
  // Who sleeps listens if no other worker does: messages wake him in place of
  // the loop's thread, from the next HandBack() on. Returns what to wait for,
  // -1: nothing. Ends with StopListening(), after which he hands back.
  int Listen() {
    const int fd = listen_fd_;
    int nothing = -1;
    return heard_fd_.compare_exchange_strong(nothing, fd) ? fd : -1;
  }
  void StopListening() { heard_fd_ = -1; }
  // For who has the turn and goes to sleep. One who still waits for what an
  // earlier loop had does not count.
  bool has_listener() const {
    const int fd = listen_fd_;
    return fd >= 0 && heard_fd_ == fd;
  }
  // Whoever made a pass has something to run, or goes to sleep. If somebody
  // else has the turn, he has the looking out as well: a worker with a pass
  // hands back in his turn, others settle it.
  void HandBack() {
    is_handed_back_.store(true);
    do {
      const std::unique_lock lock(mutex_, std::try_to_lock);
      if (!lock.owns_lock()) return;
      is_handed_back_.store(false);
      if (loop_ != nullptr) loop_->HandBack();
    } while (is_handed_back_.load());
  }
  // For whoever gave the turn back without a HandBack() of his own. One that
  // met him may have listened until then, and who sleeps counts on that.
  void SettleHandBack() {
    if (is_handed_back_.load()) HandBack();
  }

 private:
  std::atomic<bool> is_handed_back_{false};  // but not to anybody
  std::atomic<int> listen_fd_{-1};
  std::atomic<int> heard_fd_{-1};  // what a worker that sleeps waits for
  std::mutex mutex_;
  Loop* loop_ = nullptr;  // under mutex_
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_LOOP_TURN_H_

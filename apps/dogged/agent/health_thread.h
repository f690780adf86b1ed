// HealthThread: answers probes of an agent (health_port.h) on a thread of its
// own, so that a loop that is stuck is told of, and strangers cost the loop
// nothing.
//
// The agent is alive while its loop turns, or has not begun to: a loop turns
// twice a second at least, to gossip. The agent is ready from SetReady() on,
// until SetNotReady(). Thread-safe.
#ifndef DOGGED_APPS_DOGGED_AGENT_HEALTH_THREAD_H_
#define DOGGED_APPS_DOGGED_AGENT_HEALTH_THREAD_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "routing/control/health_port.h"
#include "routing/control/polled_deadlines.h"
#include "routing/control/poller.h"
#include "runtime/base/clock.h"
#include "runtime/exec/worker_threads.h"

namespace dogged {

class HealthThread {
 public:
  // A loop that has not turned for so long is stuck: the other agents have
  // taken it for dead before. Time counts as in PolledDeadlines.
  static constexpr absl::Duration kStuck = absl::Seconds(10);

  // Listens; the thread begins with Begin(). Errors: as HealthPort::Listen(),
  // with `address` named as --health.
  static absl::StatusOr<std::unique_ptr<HealthThread>> Listen(
      const std::string& address);
  ~HealthThread();
  HealthThread(const HealthThread&) = delete;
  HealthThread& operator=(const HealthThread&) = delete;

  // Errors: kResourceExhausted if the system gave no thread.
  absl::Status Begin();
  const std::string& address() const { return port_->address(); }

  // The loop turns.
  void NoteTurn() { turns_.fetch_add(1, std::memory_order_relaxed); }
  // The loop has ended, or has not begun: it need not turn.
  void NoteNoLoop() { turns_.store(0, std::memory_order_relaxed); }
  void SetReady() { SetNotReady(""); }
  void SetNotReady(absl::string_view why);

 private:
  HealthThread() = default;
  void Run();
  Health Look(absl::Time now);

  SystemClock clock_;
  std::unique_ptr<Poller> poller_;
  std::unique_ptr<HealthPort> port_;
  std::atomic<int64_t> turns_{0};
  std::atomic<bool> is_ending_{false};
  std::mutex mutex_;
  std::string not_ready_;  // by mutex_
  // The thread alone uses these.
  int64_t seen_turns_ = 0;
  bool is_stuck_ = false;
  PolledDeadlines stuck_at_;
  std::optional<WorkerThreads> thread_;  // last: it uses the others
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_AGENT_HEALTH_THREAD_H_

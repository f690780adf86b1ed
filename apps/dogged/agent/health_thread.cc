#include "apps/dogged/agent/health_thread.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Looks at the loop and at the time of connections are as frequent as this.
constexpr absl::Duration kLook = absl::Seconds(1);
constexpr uint64_t kLoop = 0;  // in PolledDeadlines

}  // namespace

absl::StatusOr<std::unique_ptr<HealthThread>> HealthThread::Listen(
    const std::string& address) {
  std::unique_ptr<HealthThread> out(new HealthThread());
  DOGGED_ASSIGN_OR_RETURN(out->poller_, Poller::Create());
  auto port = HealthPort::Listen(address, out->clock_);
  if (!port.ok()) return Annotate(port.status(), "--health");
  out->port_ = *std::move(port);
  out->poller_->Watch(out->port_->wait_fd());
  out->SetNotReady("it starts");
  return out;
}

HealthThread::~HealthThread() {
  is_ending_ = true;
  poller_->Wake();
}

absl::Status HealthThread::Begin() {
  thread_.emplace(
      WorkerPlacement{
          .worker_count = 1, .os_cpus = {}, .steal_order = {}, .bind = nullptr},
      [this](int) { Run(); });
  return thread_->status();
}

void HealthThread::SetNotReady(absl::string_view why) {
  const std::lock_guard lock(mutex_);
  not_ready_ = std::string(why);
}

void HealthThread::Run() {
  while (!is_ending_) {
    poller_->Wait(kLook);
    port_->Poll(Look(clock_.Now()));
  }
}

Health HealthThread::Look(absl::Time now) {
  const int64_t turns = turns_.load(std::memory_order_relaxed);
  if (!stuck_at_.TakeDue(now).empty()) is_stuck_ = true;
  if (turns != std::exchange(seen_turns_, turns)) {
    is_stuck_ = false;
    turns == 0 ? stuck_at_.Clear(kLoop) : stuck_at_.Set(kLoop, kStuck);
  }
  Health out;
  if (is_stuck_) {
    out.not_alive = absl::StrCat("its loop has not turned for ",
                                 absl::FormatDuration(kStuck));
  }
  const std::lock_guard lock(mutex_);
  out.not_ready = not_ready_;
  return out;
}

}  // namespace dogged

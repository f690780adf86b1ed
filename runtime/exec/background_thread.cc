#include "runtime/exec/background_thread.h"

#include <utility>

namespace dogged {

BackgroundThread::BackgroundThread(std::function<void()> wake)
    : wake_(std::move(wake)),
      thread_(WorkerPlacement{.worker_count = 1,
                              .os_cpus = {},
                              .steal_order = {},
                              .bind = nullptr},
              [this](int) { Run(); }) {}

BackgroundThread::~BackgroundThread() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  waiting_.clear();
  changed_.notify_all();
}

void BackgroundThread::Submit(std::function<Rest()> work) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(work));
  changed_.notify_all();
}

void BackgroundThread::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    const std::function<Rest()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    Rest rest = work();
    lock.lock();
    done_.push_back(std::move(rest));
    wake_();
  }
}

void BackgroundThread::Poll() {
  std::vector<Rest> done;
  {
    const std::lock_guard lock(mutex_);
    done.swap(done_);
  }
  for (const Rest& rest : done) rest();
}

}  // namespace dogged

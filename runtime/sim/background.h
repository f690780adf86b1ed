// The Background port in virtual time: work runs inline when its time is up.
#ifndef DOGGED_RUNTIME_SIM_BACKGROUND_H_
#define DOGGED_RUNTIME_SIM_BACKGROUND_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "runtime/base/random.h"
#include "runtime/exec/background.h"
#include "runtime/sim/event_queue.h"

namespace dogged {

class SimBackground : public Background {
 public:
  SimBackground(EventQueue& queue, absl::Duration work_time, Rng rng,
                std::function<void()> wake)
      : queue_(queue),
        work_time_(work_time),
        rng_(rng),
        wake_(std::move(wake)) {}
  ~SimBackground() override { *alive_ = false; }

  void Submit(std::function<Rest()> work) override {
    queue_.After(2 * work_time_ * rng_.Unit(),
                 [this, alive = alive_, work = std::move(work)] {
                   if (!*alive) return;
                   done_.push_back(work());
                   wake_();
                 });
  }
  void Poll() override {
    for (const Rest& rest : std::exchange(done_, {})) rest();
  }

 private:
  EventQueue& queue_;
  const absl::Duration work_time_;
  Rng rng_;
  const std::function<void()> wake_;
  std::vector<Rest> done_;
  // Events that come after a crash find this false.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_BACKGROUND_H_

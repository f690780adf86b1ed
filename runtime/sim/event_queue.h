// The one clock of a simulation: events in order of (time, sequence).
#ifndef DOGGED_RUNTIME_SIM_EVENT_QUEUE_H_
#define DOGGED_RUNTIME_SIM_EVENT_QUEUE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "absl/time/time.h"

namespace dogged {

class EventQueue {
 public:
  absl::Time now() const { return now_; }
  // Runs `event` at `time`, or now if that has passed.
  void At(absl::Time time, std::function<void()> event) {
    if (time < now_) time = now_;
    events_.emplace(std::make_pair(time, sequence_++), std::move(event));
  }
  void After(absl::Duration delay, std::function<void()> event) {
    At(now_ + delay, std::move(event));
  }
  // Runs the next event; false if there is none.
  bool RunNext() {
    if (events_.empty()) return false;
    auto first = events_.begin();
    now_ = first->first.first;
    const std::function<void()> event = std::move(first->second);
    events_.erase(first);
    event();
    return true;
  }

 private:
  absl::Time now_ = absl::UnixEpoch();
  uint64_t sequence_ = 0;
  std::map<std::pair<absl::Time, uint64_t>, std::function<void()>> events_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_EVENT_QUEUE_H_

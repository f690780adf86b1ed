#include "kvstore/dictionary/timer_wheel.h"

#include <algorithm>

namespace dogged {
namespace {

// Ticks since the epoch of the clock, which no agent's time is before.
constexpr int64_t kTickMilliseconds = 32;

int64_t TickBefore(absl::Time time) {
  return std::max<int64_t>(0, absl::ToUnixMillis(time)) / kTickMilliseconds;
}

}  // namespace

void TimerWheel::Timer::Unlink() {
  if (next_ == nullptr) return;
  previous_->next_ = next_;
  next_->previous_ = previous_;
  previous_ = next_ = nullptr;
}

void TimerWheel::Timer::LinkBefore(Timer& other) {
  previous_ = other.previous_;
  next_ = &other;
  previous_->next_ = this;
  next_->previous_ = this;
}

TimerWheel::TimerWheel() {
  for (Timer& head : slots_) head.previous_ = head.next_ = &head;
}

void TimerWheel::Set(Timer& timer, absl::Time time) {
  timer.Unlink();
  if (time == absl::InfiniteFuture()) return;
  timer.tick_ = std::max(TickBefore(time), taken_) + 1;
  timer.LinkBefore(SlotOf(timer.tick_));
}

std::vector<Label> TimerWheel::TakeDue(absl::Time now) {
  std::vector<Label> due;
  const int64_t last = TickBefore(now);
  // Timers of later turns stay in their slots.
  for (int64_t tick = std::max(taken_ + 1, last - kSlots + 1); tick <= last;
       ++tick) {
    Timer& head = SlotOf(tick);
    for (Timer* timer = head.next_; timer != &head;) {
      Timer* const next = timer->next_;
      if (timer->tick_ <= last) {
        due.push_back(*timer->label_);
        timer->Unlink();
      }
      timer = next;
    }
  }
  taken_ = std::max(taken_, last);
  std::sort(due.begin(), due.end());
  return due;
}

}  // namespace dogged

// TimerWheel: which of many labels are due, without looking at the others. A
// hashed timing wheel [Varghese and Lauck 1987, scheme 6]: a timer hangs in the
// slot of its tick, so that setting, moving and dropping one takes the same
// time however many there are. Used by one thread.
#ifndef DOGGED_KVSTORE_DICTIONARY_TIMER_WHEEL_H_
#define DOGGED_KVSTORE_DICTIONARY_TIMER_WHEEL_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "runtime/base/label.h"

namespace dogged {

class TimerWheel {
 public:
  // Part of its owner, and gone from the wheel with it.
  class Timer {
   public:
    Timer() = default;
    ~Timer() { Unlink(); }
    // Outlives the timer.
    void SetLabel(const Label& label) { label_ = &label; }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    friend class TimerWheel;
    void Unlink();
    void LinkBefore(Timer& other);

    Timer* previous_ = nullptr;
    Timer* next_ = nullptr;
    const Label* label_ = nullptr;
    int64_t tick_ = 0;
  };

  TimerWheel();

  // Makes `timer` due at `time`, or at most a tick (32 ms) later, instead of
  // its time before; never if that is the infinite future.
  void Set(Timer& timer, absl::Time time);
  // Takes due labels out of the wheel, in label order.
  std::vector<Label> TakeDue(absl::Time now);

 private:
  static constexpr int64_t kSlots = 256;

  Timer& SlotOf(int64_t tick) { return slots_[tick % kSlots]; }

  // Heads of rings; never due.
  std::array<Timer, static_cast<size_t>(kSlots)> slots_;
  int64_t taken_ = -1;  // up to and with this tick
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_TIMER_WHEEL_H_

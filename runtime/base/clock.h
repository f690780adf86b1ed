// The Clock port. Nothing else in the project reads the time.
#ifndef DOGGED_RUNTIME_BASE_CLOCK_H_
#define DOGGED_RUNTIME_BASE_CLOCK_H_

#include "absl/time/time.h"

namespace dogged {

class Clock {
 public:
  virtual ~Clock() = default;
  // Never goes back; its origin means nothing. Only differences count.
  virtual absl::Time Now() = 0;
};

// The steady clock of the operating system. Thread-safe.
class SystemClock : public Clock {
 public:
  absl::Time Now() override;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_CLOCK_H_

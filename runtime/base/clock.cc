#include "runtime/base/clock.h"

#include <chrono>

namespace dogged {

absl::Time SystemClock::Now() {
  return absl::UnixEpoch() +
         absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace dogged

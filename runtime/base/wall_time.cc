#include "runtime/base/wall_time.h"

#include <chrono>

namespace dogged {

absl::Time WallTime() {
  return absl::FromChrono(std::chrono::system_clock::now());
}

}  // namespace dogged

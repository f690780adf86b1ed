// The time of the wall clock, for what is compared across restarts of a
// computer. It may jump; all else goes by the Clock port.
#ifndef DOGGED_RUNTIME_BASE_WALL_TIME_H_
#define DOGGED_RUNTIME_BASE_WALL_TIME_H_

#include "absl/time/time.h"

namespace dogged {

// Thread-safe.
absl::Time WallTime();

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_WALL_TIME_H_

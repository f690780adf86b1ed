// Times that all clients of a cluster keep to.
#ifndef DOGGED_APPS_DOGGED_CLIENT_CLIENT_TIMES_H_
#define DOGGED_APPS_DOGGED_CLIENT_CLIENT_TIMES_H_

#include "absl/time/time.h"

namespace dogged {

// Until an agent has taken a connection, and answered a request.
inline constexpr absl::Duration kConnectTimeout = absl::Seconds(2);
inline constexpr absl::Duration kCallTimeout = absl::Seconds(10);
// From one question about a job's progress to the next.
inline constexpr absl::Duration kPollInterval = absl::Milliseconds(150);
// Until agents of the client's own serve, and until each sees all.
inline constexpr absl::Duration kStartTimeout = absl::Seconds(30);
inline constexpr absl::Duration kViewsTimeout = absl::Seconds(2);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLIENT_CLIENT_TIMES_H_

// The filter before a listening TCP socket of this process: the kernel drops
// all packets but those from admitted addresses, so nobody else connects
// (socket(7), SO_ATTACH_FILTER; classic BPF, which wants no privilege).
// Connections keep the filter that they came in by.
#ifndef DOGGED_ROUTING_FABRIC_PORT_FILTER_H_
#define DOGGED_ROUTING_FABRIC_PORT_FILTER_H_

#include <sys/socket.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace dogged {

// An address from which a connection may come. Port 0 is any.
struct FilteredSource {
  sockaddr_storage address{};
};

inline constexpr int kFilteredSourcesMax = 256;

// The socket of this process that is bound to `at`. Libraries don't tell.
// Errors: kNotFound.
absl::StatusOr<int> FindBoundSocket(const sockaddr_storage& at);

// From now on packets from `sources` alone, at most kFilteredSourcesMax, reach
// `fd`. Errors: kUnavailable, with the kernel's reason.
absl::Status AdmitOnly(int fd, absl::Span<const FilteredSource> sources);

}  // namespace dogged

#endif  // DOGGED_ROUTING_FABRIC_PORT_FILTER_H_

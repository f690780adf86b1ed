// Sockets that wait for connections: of the control port and the health port.
#ifndef DOGGED_ROUTING_CONTROL_LISTENING_SOCKET_H_
#define DOGGED_ROUTING_CONTROL_LISTENING_SOCKET_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dogged {

// A descriptor that listens at `address`, HOST:PORT, where port 0 stands for
// any free one, and never blocks; the caller closes it. At most `backlog`
// connections wait to be accepted. Errors: kInvalidArgument and kUnavailable as
// ResolveAddress(); kUnavailable also if the address is taken or another
// host's; kResourceExhausted without descriptors.
absl::StatusOr<int> OpenListeningSocket(absl::string_view address, int backlog);

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_LISTENING_SOCKET_H_

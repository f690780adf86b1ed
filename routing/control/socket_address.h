// Text forms of TCP addresses, for control_socket.cc and its client.
#ifndef DOGGED_ROUTING_CONTROL_SOCKET_ADDRESS_H_
#define DOGGED_ROUTING_CONTROL_SOCKET_ADDRESS_H_

#include <sys/socket.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dogged {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
  int family() const { return storage.ss_family; }
  // "127.0.0.1:7000", "[::1]:7000".
  std::string ToString() const;
  // The same without the port.
  std::string Host() const;
  bool IsLoopback() const;
  // All interfaces, 0.0.0.0 or [::]: an address to listen at, and none that
  // leads anywhere.
  bool IsWildcard() const;
  // The address is one of this host's, whatever the port.
  bool IsOfThisHost() const;
};

// "HOST:PORT" or "[IPV6]:PORT". A name that is not numeric is looked up, which
// may take seconds. Errors: kInvalidArgument if malformed, kUnavailable if the
// name is not known.
absl::StatusOr<SocketAddress> ResolveAddress(absl::string_view text);

// All addresses of a name, IPv4 first; a numeric one is its own. Errors: as
// above.
absl::StatusOr<std::vector<SocketAddress>> ResolveAll(absl::string_view text);
// HOST of HOST:PORT is numeric: nothing has to be looked up.
bool IsNumeric(absl::string_view text);

// The address that `fd` is bound to, and that of its other end.
SocketAddress LocalAddress(int fd);
SocketAddress PeerAddress(int fd);

// "port 7000 at 127.0.0.1: Address already in use".
std::string ErrorText(absl::string_view address, int error);

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_SOCKET_ADDRESS_H_

#include "routing/control/listening_socket.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "routing/control/socket_address.h"
#include "runtime/base/status.h"

namespace dogged {

absl::StatusOr<int> OpenListeningSocket(absl::string_view address,
                                        int backlog) {
  DOGGED_ASSIGN_OR_RETURN(const SocketAddress at, ResolveAddress(address));
  const int fd =
      socket(at.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return absl::ResourceExhaustedError(
        ErrorText(absl::StrCat("port at ", address), errno));
  }
  // A port whose last user just died is free.
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(fd, at.get(), at.size) != 0 || listen(fd, backlog) != 0) {
    const int error = errno;
    close(fd);
    return absl::UnavailableError(
        ErrorText(absl::StrCat("cannot listen at ", address), error));
  }
  return fd;
}

}  // namespace dogged

#include "routing/control/send_parts.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include "runtime/base/check.h"

namespace dogged {

int64_t SendParts(int fd, absl::Span<const absl::string_view> parts) {
  DOGGED_CHECK(parts.size() <= kPartsMax);
  iovec pieces[kPartsMax];
  for (size_t i = 0; i < parts.size(); ++i) {
    pieces[i] = {const_cast<char*>(parts[i].data()), parts[i].size()};
  }
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = parts.size();
  return sendmsg(fd, &message, MSG_NOSIGNAL);
}

}  // namespace dogged

#include "routing/control/control_client.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/control/control_frame.h"
#include "routing/control/send_parts.h"
#include "routing/control/socket_address.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr size_t kReadBytes = 64 << 10;

// Waits until `fd` is ready for `events`; false when `deadline` has passed.
bool WaitFor(int fd, short events, absl::Time deadline) {
  SystemClock clock;
  while (true) {
    const absl::Duration left = deadline - clock.Now();
    if (left <= absl::ZeroDuration()) return false;
    const int64_t left_ms = absl::ToInt64Milliseconds(
        std::min(left, absl::Milliseconds(INT_MAX - 1)));
    pollfd wanted{fd, events, 0};
    if (poll(&wanted, 1, static_cast<int>(left_ms) + 1) > 0) return true;
  }
}

absl::Status Late(absl::string_view address) {
  return absl::DeadlineExceededError(
      absl::StrCat("no answer from ", address, " in time"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ControlClient>> ControlClient::Connect(
    absl::string_view address, absl::Duration timeout) {
  const absl::Time deadline = SystemClock().Now() + timeout;
  absl::StatusOr<SocketAddress> to = ResolveAddress(address);
  if (!to.ok()) return to.status();
  const int fd =
      socket(to->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return absl::ResourceExhaustedError(ErrorText(address, errno));
  std::unique_ptr<ControlClient> client(
      new ControlClient(fd, std::string(address)));
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  int error = 0;
  if (connect(fd, to->get(), to->size) != 0) {
    if (errno != EINPROGRESS) {
      error = errno;
    } else if (!WaitFor(fd, POLLOUT, deadline)) {
      error = ETIMEDOUT;
    } else {
      socklen_t size = sizeof(error);
      getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    }
  }
  if (error != 0) {
    return absl::UnavailableError(
        ErrorText(absl::StrCat("no agent answers at ", address), error));
  }
  return client;
}

ControlClient::~ControlClient() { close(fd_); }

absl::Status ControlClient::Send(uint8_t type, absl::string_view body,
                                 absl::Duration timeout) {
  if (std::ssize(body) > kControlFrameBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("frame of ", body.size(), " bytes; ",
                     kControlFrameBytesMax, " are possible"));
  }
  const absl::Time deadline = SystemClock().Now() + timeout;
  const std::string header = FrameHeader::Encode(type, body);
  absl::string_view parts[] = {header, body};
  while (!parts[0].empty() || !parts[1].empty()) {
    const int64_t sent = SendParts(fd_, parts);
    if (sent >= 0) {
      auto size = static_cast<size_t>(sent);
      for (absl::string_view& part : parts) {
        const size_t of_part = std::min(size, part.size());
        part.remove_prefix(of_part);
        size -= of_part;
      }
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!WaitFor(fd_, POLLOUT, deadline)) return Late(address_);
    } else if (errno != EINTR) {
      return absl::UnavailableError(ErrorText(address_, errno));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ControlFrame> ControlClient::Receive(absl::Duration timeout) {
  const absl::Time deadline = SystemClock().Now() + timeout;
  std::string bytes(kReadBytes, '\0');
  while (true) {
    const absl::StatusOr<FrameHeader> header = FrameHeader::Decode(received_);
    if (!header.ok()) {
      // The other end is not an agent.
      return absl::UnavailableError(
          absl::StrCat(address_, ": ", header.status().message()));
    }
    const int64_t size = kFrameHeaderBytes + header->body_bytes;
    if (!header->is_partial && std::ssize(received_) >= size) {
      ControlFrame frame{
          header->type,
          Bytes(received_.substr(kFrameHeaderBytes, header->body_bytes))};
      if (const absl::Status intact = header->Check(frame.body.view());
          !intact.ok()) {
        return absl::UnavailableError(
            absl::StrCat(address_, ": ", intact.message()));
      }
      received_.erase(0, size);
      return frame;
    }
    const ssize_t got = recv(fd_, bytes.data(), bytes.size(), 0);
    if (got > 0) {
      received_.append(bytes.data(), got);
    } else if (got == 0) {
      return absl::UnavailableError(
          absl::StrCat(address_, ": connection closed"));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!WaitFor(fd_, POLLIN, deadline)) return Late(address_);
    } else if (errno != EINTR) {
      return absl::UnavailableError(ErrorText(address_, errno));
    }
  }
}

absl::StatusOr<ControlFrame> ControlClient::Call(uint8_t type,
                                                 absl::string_view body,
                                                 absl::Duration timeout) {
  const absl::Time deadline = SystemClock().Now() + timeout;
  DOGGED_RETURN_IF_ERROR(Send(type, body, timeout));
  return Receive(deadline - SystemClock().Now());
}

}  // namespace dogged

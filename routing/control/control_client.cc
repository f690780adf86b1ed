#include "routing/control/control_client.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/control/control_frame.h"
#include "routing/control/polled_deadlines.h"
#include "routing/control/refusal.h"
#include "routing/control/send_parts.h"
#include "routing/control/socket_address.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr size_t kClientReadBytes = 64 << 10;
// Sealed at a time: what is sent is not kept twice.
constexpr size_t kSealedBytes = 256 << 10;

// Waits until `fd` is ready for `events`; false when `patience` has run out.
bool WaitFor(int fd, short events, PolledPatience& patience) {
  // Twice as long would count, where the processors are busy.
  const absl::Duration step = PolledPatience::kStepMax / 2;
  SystemClock clock;
  while (true) {
    const absl::Duration left = patience.Left(clock.Now());
    if (left <= absl::ZeroDuration()) return false;
    const int64_t step_ms = absl::ToInt64Milliseconds(std::min(left, step));
    pollfd wanted{fd, events, 0};
    if (poll(&wanted, 1, static_cast<int>(step_ms) + 1) > 0) return true;
  }
}

PolledPatience PatienceOf(absl::Duration timeout) {
  return {SystemClock().Now(), timeout};
}

absl::Status Late(absl::string_view address) {
  return absl::DeadlineExceededError(
      absl::StrCat("no answer from ", address, " in time"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ControlClient>> ControlClient::Connect(
    absl::string_view address, absl::Duration timeout,
    std::shared_ptr<const KeyRing> ring,
    std::shared_ptr<const Certificates> certificates) {
  PolledPatience patience = PatienceOf(timeout);
  absl::StatusOr<SocketAddress> to = ResolveAddress(address);
  if (!to.ok()) return to.status();
  const int fd =
      socket(to->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return absl::ResourceExhaustedError(ErrorText(address, errno));
  std::unique_ptr<ControlClient> client(
      new ControlClient(fd, std::string(address)));
  client->hello_ = FrameHeader::EncodeHello();
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  int error = 0;
  if (connect(fd, to->get(), to->size) != 0) {
    if (errno != EINPROGRESS) {
      error = errno;
    } else if (!WaitFor(fd, POLLOUT, patience)) {
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
  if (ring != nullptr || certificates != nullptr) {
    DOGGED_RETURN_IF_ERROR(
        client->Secure(std::move(ring), std::move(certificates), patience));
  }
  return client;
}

ControlClient::~ControlClient() { close(fd_); }

absl::Status ControlClient::Send(uint8_t type, absl::string_view body,
                                 absl::Duration timeout) {
  PolledPatience patience = PatienceOf(timeout);
  return SendWithin(type, body, patience);
}

absl::Status ControlClient::SendWithin(uint8_t type, absl::string_view body,
                                       PolledPatience& patience) {
  if (std::ssize(body) > kControlFrameBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("frame of ", body.size(), " bytes; ",
                     kControlFrameBytesMax, " are possible"));
  }
  const std::string header = absl::StrCat(std::exchange(hello_, std::string()),
                                          FrameHeader::Encode(type, body));
  if (channel_ != nullptr) {
    channel_->Seal(header);
    do {
      channel_->Seal(body.substr(0, kSealedBytes));
      body.remove_prefix(std::min(body.size(), kSealedBytes));
      DOGGED_RETURN_IF_ERROR(SendSealed(patience));
    } while (!body.empty());
    return absl::OkStatus();
  }
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
      if (!WaitFor(fd_, POLLOUT, patience)) return Late(address_);
    } else if (errno != EINTR) {
      return Broken(errno);
    }
  }
  return absl::OkStatus();
}

absl::Status ControlClient::Secure(
    std::shared_ptr<const KeyRing> ring,
    std::shared_ptr<const Certificates> certificates,
    PolledPatience& patience) {
  DOGGED_ASSIGN_OR_RETURN(auto context,
                          SecureContext::Create(std::move(certificates)));
  channel_ = std::make_unique<SecureChannel>(std::move(context),
                                             SecureChannel::Side::kConnects,
                                             std::move(ring), address_);
  DOGGED_RETURN_IF_ERROR(SendSealed(patience));
  while (!channel_->is_open()) DOGGED_RETURN_IF_ERROR(TakeSome(patience));
  return SendSealed(patience);
}

absl::Status ControlClient::SendSealed(PolledPatience& patience) {
  while (!channel_->unsent().empty()) {
    const absl::string_view parts[] = {channel_->unsent()};
    const int64_t sent = SendParts(fd_, parts);
    if (sent >= 0) {
      channel_->NoteSent(static_cast<size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!WaitFor(fd_, POLLOUT, patience)) return Late(address_);
    } else if (errno != EINTR) {
      return Broken(errno);
    }
  }
  return absl::OkStatus();
}

size_t ControlClient::MissingBytes() {
  const absl::StatusOr<FrameHeader> header = FrameHeader::Decode(received_);
  if (!header.ok() || header->is_partial) return 0;
  const auto size = static_cast<size_t>(kFrameHeaderBytes + header->body_bytes);
  received_.reserve(size);  // growing would take twice as much, or more
  return size - std::min(size, received_.size());
}

absl::Status ControlClient::TakeSome(PolledPatience& patience) {
  std::string bytes(kClientReadBytes, '\0');
  const size_t missing = MissingBytes();
  const size_t wanted =
      missing == 0 ? bytes.size() : std::min(bytes.size(), missing);
  while (true) {
    const ssize_t got = recv(fd_, bytes.data(), wanted, 0);
    if (got > 0) {
      const auto some =
          absl::string_view(bytes).substr(0, static_cast<size_t>(got));
      if (channel_ == nullptr) {
        absl::StrAppend(&received_, some);
        return absl::OkStatus();
      }
      const absl::Status taken = channel_->Take(some, received_);
      if (taken.ok() || absl::IsPermissionDenied(taken)) return taken;
      return absl::UnavailableError(
          absl::StrCat(address_, ": ", taken.message()));
    }
    if (got == 0) {
      return absl::UnavailableError(
          absl::StrCat(address_, ": connection closed"));
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!WaitFor(fd_, POLLIN, patience)) return Late(address_);
    } else if (errno != EINTR) {
      return absl::UnavailableError(ErrorText(address_, errno));
    }
  }
}

absl::Status ControlClient::Broken(int error) {
  const absl::Status broken =
      absl::UnavailableError(ErrorText(address_, error));
  // Its words came before it ended the connection.
  absl::Status taken;
  PolledPatience none = PatienceOf(absl::ZeroDuration());
  while (taken.ok()) taken = TakeSome(none);
  if (absl::IsPermissionDenied(taken)) return taken;
  while (true) {
    bool is_partial = false;
    const absl::StatusOr<ControlFrame> frame = NextFrame(is_partial);
    if (IsRefusal(frame.status())) return frame.status();
    if (!frame.ok() || is_partial) return broken;
  }
}

absl::StatusOr<ControlFrame> ControlClient::NextFrame(bool& is_partial) {
  absl::StatusOr<ControlFrame> frame = TakeFrame(is_partial);
  while (frame.ok() && !is_partial && frame->type == kHelloType) {
    frame = TakeFrame(is_partial);
  }
  return frame;
}

absl::StatusOr<ControlFrame> ControlClient::TakeFrame(bool& is_partial) {
  const absl::StatusOr<FrameHeader> header = FrameHeader::Decode(received_);
  if (!header.ok()) {
    // The other end is not an agent.
    return absl::UnavailableError(
        absl::StrCat(address_, ": ", header.status().message()));
  }
  const int64_t size = kFrameHeaderBytes + header->body_bytes;
  is_partial = header->is_partial || std::ssize(received_) < size;
  if (is_partial) return ControlFrame();
  ControlFrame frame{header->type, TakeBody(header->body_bytes)};
  if (const absl::Status intact = header->Check(frame.body.view());
      !intact.ok()) {
    return absl::UnavailableError(
        absl::StrCat(address_, ": ", intact.message()));
  }
  DOGGED_RETURN_IF_ERROR(RefusalOf(frame));
  return frame;
}

Bytes ControlClient::TakeBody(int64_t bytes) {
  const auto size = static_cast<size_t>(kFrameHeaderBytes + bytes);
  if (size < kClientReadBytes) {
    Bytes body(received_.substr(kFrameHeaderBytes, static_cast<size_t>(bytes)));
    received_.erase(0, size);
    return body;
  }
  std::string rest = received_.substr(size);
  std::swap(rest, received_);
  return Bytes(std::move(rest)).Slice(kFrameHeaderBytes, bytes);
}

absl::Status ControlClient::RefusalOf(const ControlFrame& frame) const {
  if (frame.type == kHelloType) {
    const auto hello = WireHello::Decode(frame.body.view());
    if (hello.ok()) return CheckWire(*hello, address_);
    return absl::UnavailableError(
        absl::StrCat(address_, ": ", hello.status().message()));
  }
  if (frame.type != kRefusalType) return absl::OkStatus();
  const absl::StatusOr<Refusal> refusal =
      channel_ == nullptr ? Refusal::DecodeClear(frame.body.view())
                          : Refusal::Decode(frame.body.view());
  if (!refusal.ok()) {
    return absl::UnavailableError(
        absl::StrCat(address_, ": ", refusal.status().message()));
  }
  return absl::PermissionDeniedError(refusal->WordsFor(address_, nullptr));
}

absl::StatusOr<ControlFrame> ControlClient::Receive(absl::Duration timeout) {
  PolledPatience patience = PatienceOf(timeout);
  return ReceiveWithin(patience);
}

absl::StatusOr<ControlFrame> ControlClient::ReceiveWithin(
    PolledPatience& patience) {
  while (true) {
    bool is_partial = false;
    absl::StatusOr<ControlFrame> frame = NextFrame(is_partial);
    if (!frame.ok() || !is_partial) return frame;
    DOGGED_RETURN_IF_ERROR(TakeSome(patience));
    // Answers to changes of keys.
    if (channel_ != nullptr) DOGGED_RETURN_IF_ERROR(SendSealed(patience));
  }
}

absl::StatusOr<ControlFrame> ControlClient::Call(uint8_t type,
                                                 absl::string_view body,
                                                 absl::Duration timeout) {
  PolledPatience patience = PatienceOf(timeout);
  DOGGED_RETURN_IF_ERROR(SendWithin(type, body, patience));
  return ReceiveWithin(patience);
}

}  // namespace dogged

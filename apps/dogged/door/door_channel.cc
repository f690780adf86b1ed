#include "apps/dogged/door/door_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr size_t kReadBytes = size_t{64} << 10;
constexpr size_t kPerMessage = 64;  // descriptors

bool IsUnixSocket(int descriptor) {
  int domain = 0;
  socklen_t length = sizeof(domain);
  return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 &&
         domain == AF_UNIX;
}

absl::Status Gone() {
  return absl::UnavailableError("the process that started this one has gone");
}

// Room for the descriptors of a message, aligned as the system wants it.
union ControlRoom {
  cmsghdr align;
  char bytes[CMSG_SPACE(kPerMessage * sizeof(int))];
};

}  // namespace

OwnedDescriptor::~OwnedDescriptor() {
  if (number_ >= 0) close(number_);
}

DoorChannel::DoorChannel(int in, int out)
    : in_(in),
      out_(out),
      is_socket_(IsUnixSocket(in) && (in == out || IsUnixSocket(out))) {}

bool DoorChannel::HasGone() const {
  pollfd looked = {.fd = in_, .events = POLLRDHUP, .revents = 0};
  return poll(&looked, 1, 0) > 0 &&
         (looked.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

absl::StatusOr<bool> DoorChannel::Receive(absl::Duration patience) {
  pollfd waiting = {.fd = in_, .events = POLLIN, .revents = 0};
  const int64_t ms = absl::ToInt64Milliseconds(patience);
  const int ready =
      poll(&waiting, 1, static_cast<int>(std::clamp<int64_t>(ms, 0, 60'000)));
  if (ready <= 0) return false;
  char bytes[kReadBytes];
  ssize_t size = 0;
  if (is_socket_) {
    ControlRoom room;
    iovec part = {.iov_base = bytes, .iov_len = sizeof(bytes)};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room.bytes;
    message.msg_controllen = sizeof(room.bytes);
    size = recvmsg(in_, &message, MSG_CMSG_CLOEXEC);
    for (cmsghdr* head = size < 0 ? nullptr : CMSG_FIRSTHDR(&message);
         head != nullptr; head = CMSG_NXTHDR(&message, head)) {
      if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) {
        continue;
      }
      const size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int number = -1;
        std::memcpy(&number, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
        descriptors_.emplace_back(number);
      }
    }
  } else {
    size = read(in_, bytes, sizeof(bytes));
  }
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  if (size <= 0) return Gone();
  buffer_.append(bytes, static_cast<size_t>(size));
  return true;
}

std::optional<std::string> DoorChannel::NextLine() {
  const size_t end = buffer_.find('\n', looked_);
  if (end == std::string::npos) {
    looked_ = buffer_.size();
    return std::nullopt;
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  looked_ = 0;
  return line;
}

absl::StatusOr<std::optional<std::string>> DoorChannel::Read(
    absl::Duration patience) {
  while (true) {
    std::optional<std::string> line = NextLine();
    if (line.has_value() && is_skipping_) {
      is_skipping_ = false;
      return absl::NotFoundError(absl::StrCat(
          "a line has more than ", kLineBytesMax, " bytes; it is left out"));
    }
    if (line.has_value()) return line;
    if (buffer_.size() > kLineBytesMax) {
      buffer_.clear();
      looked_ = 0;
      is_skipping_ = true;
    }
    if (descriptors_.size() > kDescriptorsMax) {
      descriptors_.clear();
      return absl::NotFoundError(absl::StrCat(
          "more than ", kDescriptorsMax,
          " descriptors came that no line has taken; all are closed"));
    }
    DOGGED_ASSIGN_OR_RETURN(const bool has_come, Receive(patience));
    if (!has_come) return std::nullopt;
  }
}

absl::StatusOr<std::vector<OwnedDescriptor>> DoorChannel::Take(size_t count) {
  if (count > descriptors_.size()) {
    return absl::NotFoundError(absl::StrCat(
        "this line has ", count, " descriptors, and ", descriptors_.size(),
        " came",
        is_socket_ ? "" : ": a pipe carries none, a Unix socket does"));
  }
  std::vector<OwnedDescriptor> out;
  for (size_t i = 0; i < count; ++i) {
    out.push_back(std::move(descriptors_.front()));
    descriptors_.pop_front();
  }
  return out;
}

absl::Status DoorChannel::Write(absl::string_view line,
                                absl::Span<const int> descriptors) {
  if (!descriptors.empty() && !is_socket_) {
    return absl::FailedPreconditionError(
        "a pipe carries no descriptors: start this with --socket-fd");
  }
  std::string text = absl::StrCat(line, "\n");
  absl::string_view rest = text;
  while (!rest.empty()) {
    ssize_t size = 0;
    if (is_socket_) {
      ControlRoom room = {};
      iovec part = {.iov_base = const_cast<char*>(rest.data()),
                    .iov_len = rest.size()};
      msghdr message = {};
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      if (!descriptors.empty()) {
        const size_t bytes = descriptors.size() * sizeof(int);
        message.msg_control = room.bytes;
        message.msg_controllen = CMSG_SPACE(bytes);
        cmsghdr* const head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(bytes);
        std::memcpy(CMSG_DATA(head), descriptors.data(), bytes);
      }
      size = sendmsg(out_, &message, MSG_NOSIGNAL);
    } else {
      size = write(out_, rest.data(), rest.size());
    }
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) {
      pollfd waiting = {.fd = out_, .events = POLLOUT, .revents = 0};
      (void)poll(&waiting, 1, 1000);
      continue;
    }
    if (size <= 0) return Gone();
    rest.remove_prefix(static_cast<size_t>(size));
    descriptors = {};
  }
  return absl::OkStatus();
}

}  // namespace dogged

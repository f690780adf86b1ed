#include "routing/control/control_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/control/control_frame.h"
#include "routing/control/listening_socket.h"
#include "routing/control/send_parts.h"
#include "routing/control/socket_address.h"
#include "runtime/base/check.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr int64_t kConnectionsMax = 4096;
// Descriptors that connections leave to others: a quarter, within these.
constexpr int64_t kSpareMin = 8;
constexpr int64_t kSpareMax = 256;
constexpr int kBacklog = 128;
// Read from one connection before the others have their turn.
constexpr int64_t kReadBytesPerTurn = 1 << 20;
constexpr size_t kReadBytes = 64 << 10;
// Strangers of a port with keys: beyond, the first ones end. A handshake takes
// them some milliseconds.
constexpr int64_t kStrangersMax = 256;
constexpr absl::Duration kHandshakeTime = absl::Seconds(5);
constexpr absl::Duration kFirstFrameTime = absl::Seconds(30);
// For a refused one to take the words before its connection ends.
constexpr absl::Duration kRefusalTime = absl::Seconds(2);
// Sealed at a time, so that what waits is not kept twice.
constexpr size_t kUnsentBytesMax = 256 << 10;
constexpr size_t kRecordBytes = 16 << 10;
// First byte of a handshake in TLS.
constexpr char kHandshakeRecord = 22;
// The listening socket's mark among the connections' IDs.
constexpr uint64_t kListener = 0;

int64_t DescriptorsMax() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return INT_MAX;
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, INT_MAX));
}

bool IsReadable(int fd) {
  pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, 0) == 1;
}

// The lowest number that is free, for `fd`, if that is lower: so that numbers
// tell how many there are.
int MovedDown(int fd) {
  const int lower = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (lower < 0) return fd;
  close(std::max(fd, lower));
  return std::min(fd, lower);
}

void SetNoDelay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ControlPort>> ControlPort::Listen(
    absl::string_view address, Options options) {
  std::unique_ptr<ControlPort> port(new ControlPort());
  if (options.clock != nullptr) port->clock_ = options.clock;
  if (options.credentials != nullptr) {
    DOGGED_ASSIGN_OR_RETURN(
        port->secure_,
        SecureEnds::Create(*options.credentials, options.connects_by_key));
  }
  DOGGED_ASSIGN_OR_RETURN(const int fd, OpenListeningSocket(address, kBacklog));
  port->listen_fd_ = fd;
  port->epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  port->reserve_fd_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (port->epoll_fd_ < 0 || port->reserve_fd_ < 0) {
    return absl::ResourceExhaustedError(ErrorText("control port", errno));
  }
  port->address_ = LocalAddress(fd).ToString();
  const int64_t descriptors = DescriptorsMax();
  port->fd_max_ =
      descriptors - std::clamp(descriptors / 4, kSpareMin, kSpareMax);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kListener;
  DOGGED_CHECK(epoll_ctl(port->epoll_fd_, EPOLL_CTL_ADD, fd, &event) == 0);
  return port;
}

ControlPort::~ControlPort() {
  for (auto& [id, connection] : connections_) close(connection.fd);
  if (listen_fd_ >= 0) close(listen_fd_);
  if (reserve_fd_ >= 0) close(reserve_fd_);
  if (epoll_fd_ >= 0) close(epoll_fd_);
}

std::vector<std::string> ControlPort::KeyIds() const {
  return secure_ == nullptr ? std::vector<std::string>() : secure_->KeyIds();
}

ConnectionId ControlPort::Add(int fd, bool connecting) {
  const ConnectionId id(next_id_++);
  Connection& connection = connections_[id];
  connection.fd = fd;
  connection.connecting = connecting;
  connection.may_end = !connecting;
  connection.heard = next_heard_++;
  connection.is_known = connecting || secure_ == nullptr;
  if (!connecting) {
    connection.is_stranger = true;
    strangers_.insert(id);
    deadlines_.Set(id.value(),
                   secure_ != nullptr ? kHandshakeTime : kFirstFrameTime);
    if (secure_ != nullptr) connection.channel = secure_->Accept();
  }
  if (fd < 0) return id;
  SetNoDelay(fd);
  epoll_event event{};
  event.events = connecting ? EPOLLOUT : EPOLLIN;
  event.data.u64 = id.value();
  connection.armed = event.events;
  DOGGED_CHECK(epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) == 0);
  return id;
}

void ControlPort::Remove(ConnectionId id) {
  auto it = connections_.find(id);
  if (it->second.fd >= 0) close(it->second.fd);
  if (it->second.is_stranger) strangers_.erase(id);
  deadlines_.Clear(id.value());
  connections_.erase(it);
}

bool ControlPort::HasUnsent(const Connection& connection) {
  if (connection.channel == nullptr) return !connection.queue.empty();
  return !connection.channel->unsent().empty() ||
         (connection.channel->is_open() && !connection.queue.empty());
}

std::string ControlPort::PeerHost(ConnectionId id) const {
  const auto it = connections_.find(id);
  return it == connections_.end() ? "" : PeerAddress(it->second.fd).Host();
}

int64_t ControlPort::queued_bytes(ConnectionId id) const {
  const auto it = connections_.find(id);
  if (it == connections_.end()) return 0;
  const Connection& connection = it->second;
  return connection.queue_bytes +
         (connection.channel == nullptr
              ? 0
              : std::ssize(connection.channel->unsent()));
}

// Waits for room only while there is something to send.
void ControlPort::Arm(ConnectionId id, Connection& connection) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (connection.connecting || HasUnsent(connection)) {
    event.events |= EPOLLOUT;
  }
  if (connection.armed == event.events) return;
  connection.armed = event.events;
  event.data.u64 = id.value();
  epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, connection.fd, &event);
}

ConnectionId ControlPort::Connect(absl::string_view address) {
  const absl::StatusOr<SocketAddress> to = ResolveAddress(address);
  std::string broken;
  int fd = -1;
  if (!to.ok()) {
    broken = std::string(to.status().message());
  } else {
    fd = socket(to->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 ||
        (connect(fd, to->get(), to->size) != 0 && errno != EINPROGRESS)) {
      broken = ErrorText(address, errno);
    }
  }
  const ConnectionId id = Add(fd, true);
  Connection& connection = connections_[id];
  connection.address = std::string(address);
  connection.broken = std::move(broken);
  unsettled_.push_back(id);
  return id;
}

void ControlPort::Send(ConnectionId id, uint8_t type, const Bytes& body) {
  auto it = connections_.find(id);
  if (it == connections_.end() || it->second.closing) return;
  Connection& connection = it->second;
  if (!connection.broken.empty()) return;
  if (body.size() > kControlFrameBytesMax ||
      connection.queue_bytes > kControlFrameBytesMax) {
    connection.broken = "too much is waiting to be sent";
  } else {
    connection.queue.push_back(Bytes(FrameHeader::Encode(type, body.view())));
    if (!body.empty()) connection.queue.push_back(body);
    connection.queue_bytes += kFrameHeaderBytes + body.size();
    if (!connection.connecting) Write(connection);
  }
  unsettled_.push_back(id);
}

void ControlPort::Close(ConnectionId id) {
  auto it = connections_.find(id);
  if (it == connections_.end()) return;
  it->second.closing = true;
  unsettled_.push_back(id);
  std::vector<ControlEvent> none;
  if (!it->second.connecting) Settle(id, none);
}

void ControlPort::Poll(std::vector<ControlEvent>& events) {
  if (reserve_fd_ < 0) {
    reserve_fd_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (reserve_fd_ >= 0) SetListening(true);
  }
  if (secure_ != nullptr) secure_->Refresh(clock_->Now());
  for (ConnectionId id : std::exchange(unsettled_, {})) Settle(id, events);
  epoll_event ready[64];
  const int count = epoll_wait(epoll_fd_, ready, 64, 0);
  for (int i = 0; i < count; ++i) {
    if (ready[i].data.u64 == kListener) {
      Accept(events);
      continue;
    }
    const ConnectionId id(ready[i].data.u64);
    auto it = connections_.find(id);
    if (it == connections_.end()) continue;
    Connection& connection = it->second;
    if (connection.connecting) {
      FinishConnect(id, connection, events);
    } else {
      if ((ready[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
        Read(id, connection, events);
      }
      if ((ready[i].events & EPOLLOUT) != 0) Write(connection);
    }
    Settle(id, events);
  }
  EndOverdue(events);
}

void ControlPort::EndOverdue(std::vector<ControlEvent>& events) {
  for (const uint64_t overdue : deadlines_.TakeDue(clock_->Now())) {
    const ConnectionId id(overdue);
    const auto it = connections_.find(id);
    if (it == connections_.end()) continue;
    if (!it->second.is_refused) {
      ++refused_count_;
      NoteRefused(it->second, "it says nothing");
    }
    it->second.broken = "nothing came from it in time";
    Settle(id, events);
  }
}

void ControlPort::Accept(std::vector<ControlEvent>& events) {
  for (int i = 0; i < kBacklog; ++i) {
    int fd =
        accept4(listen_fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
      // Linux fails so before it looks whether a client waits.
      if (!IsReadable(listen_fd_)) return;
      if (EndSilent(events) || Refuse()) continue;
      // The listening descriptor would stay readable for ever.
      return SetListening(false);
    }
    if (fd < 0) return;
    const bool is_full = connection_count() >= kConnectionsMax;
    if (is_full || fd >= fd_max_) {
      if (EndSilent(events)) {
        fd = MovedDown(fd);
      } else if (is_full) {
        close(fd);
        ++refused_count_;
        continue;
      }
    }
    const ConnectionId id = Add(fd, false);
    if (secure_ == nullptr) {
      events.push_back(
          {.kind = ControlEvent::Kind::kAccepted, .connection = id});
    } else if (std::ssize(strangers_) > kStrangersMax) {
      ++refused_count_;
      Remove(*strangers_.begin());
    }
  }
}

bool ControlPort::EndSilent(std::vector<ControlEvent>& events) {
  auto silent = connections_.end();
  for (auto it = connections_.begin(); it != connections_.end(); ++it) {
    if (!it->second.may_end) continue;
    // Strangers go first.
    const auto rank = [](const Connection& one) {
      return std::pair(!one.is_stranger, one.heard);
    };
    if (silent == connections_.end() ||
        rank(it->second) < rank(silent->second)) {
      silent = it;
    }
  }
  if (silent == connections_.end()) return false;
  if (!std::exchange(has_said_, true)) {
    Log(LogLevel::kWarning,
        absl::StrCat("many connections for the ", DescriptorsMax(),
                     " descriptors of this process: those of clients that are "
                     "silent end; raise `ulimit -n`"));
  }
  if (!silent->second.closing && silent->second.is_known) {
    events.push_back({.kind = ControlEvent::Kind::kClosed,
                      .connection = silent->first,
                      .cause = "no descriptors are left for it"});
  }
  ++refused_count_;
  Remove(silent->first);
  return true;
}

bool ControlPort::Refuse() {
  if (reserve_fd_ < 0) return false;
  close(reserve_fd_);
  const int fd = accept4(listen_fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0) close(fd);
  reserve_fd_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  ++refused_count_;
  return fd >= 0;
}

void ControlPort::SetListening(bool is_listening) {
  if (is_listening_ == is_listening) return;
  is_listening_ = is_listening;
  epoll_event event{};
  if (is_listening) event.events = EPOLLIN;
  event.data.u64 = kListener;
  epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, listen_fd_, &event);
}

void ControlPort::Keep(ConnectionId id) {
  const auto it = connections_.find(id);
  if (it != connections_.end()) it->second.may_end = false;
}

void ControlPort::FinishConnect(ConnectionId id, Connection& connection,
                                std::vector<ControlEvent>& events) {
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(connection.fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    connection.broken = ErrorText("cannot connect", error);
    return;
  }
  connection.connecting = false;
  // Before all that was queued meanwhile.
  connection.queue.push_front(Bytes(FrameHeader::EncodeHello()));
  connection.queue_bytes += connection.queue.front().size();
  if (secure_ != nullptr) {
    connection.channel = secure_->Connect(connection.address);
  } else {
    events.push_back(
        {.kind = ControlEvent::Kind::kConnected, .connection = id});
  }
  Write(connection);
}

void ControlPort::Read(ConnectionId id, Connection& connection,
                       std::vector<ControlEvent>& events) {
  char bytes[kReadBytes];
  for (int64_t taken = 0; taken < kReadBytesPerTurn;) {
    const ssize_t size = recv(connection.fd, bytes, sizeof(bytes), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (size <= 0) {
      connection.broken =
          size == 0 ? "connection closed" : ErrorText("connection", errno);
      break;
    }
    taken += size;
    Take(id, connection, absl::string_view(bytes, static_cast<size_t>(size)),
         events);
    if (size < static_cast<ssize_t>(sizeof(bytes))) break;  // that was all
  }
  TakeFrames(id, connection, events);
}

void ControlPort::Take(ConnectionId id, Connection& connection,
                       absl::string_view bytes,
                       std::vector<ControlEvent>& events) {
  if (connection.is_refused || !connection.broken.empty()) return;
  if (connection.channel == nullptr) {
    connection.received.append(bytes.data(), bytes.size());
    return;
  }
  const bool was_open = connection.channel->is_open();
  const absl::Status taken =
      connection.channel->Take(bytes, connection.received);
  if (!was_open && connection.channel->is_open()) Open(id, connection, events);
  if (!taken.ok()) Fail(id, connection, taken);
  if (HasUnsent(connection)) Write(connection);
}

void ControlPort::Open(ConnectionId id, Connection& connection,
                       std::vector<ControlEvent>& events) {
  deadlines_.Clear(id.value());
  const bool is_ours = !connection.is_stranger;
  if (!is_ours) strangers_.erase(id);
  connection.is_stranger = false;
  if (connection.channel == nullptr || connection.closing) return;
  connection.is_known = true;
  events.push_back({.kind = is_ours ? ControlEvent::Kind::kConnected
                                    : ControlEvent::Kind::kAccepted,
                    .connection = id});
}

void ControlPort::Fail(ConnectionId id, Connection& connection,
                       const absl::Status& status) {
  ++refused_count_;
  const bool is_ours = !connection.address.empty();
  if (!is_ours) NoteRefused(connection, status.message());
  if (!is_ours && IsRefusal(status)) {
    // Its words are there to be sent.
    connection.is_refused = true;
    connection.received.clear();
    deadlines_.Set(id.value(), kRefusalTime);
    return;
  }
  connection.broken = std::string(status.message());
  connection.has_refused = absl::IsPermissionDenied(status);
  connection.is_far = absl::IsUnimplemented(status);
}

bool ControlPort::Greet(ConnectionId id, Connection& connection,
                        const WireHello& theirs) {
  connection.is_greeted = true;
  const bool is_ours = !connection.address.empty();
  const absl::Status fits =
      CheckWire(theirs, is_ours ? connection.address : absl::string_view("it"));
  if (!is_ours) {
    connection.queue.push_back(Bytes(FrameHeader::EncodeHello()));
    connection.queue_bytes += connection.queue.back().size();
  }
  if (!fits.ok()) Fail(id, connection, fits);
  if (!is_ours) Write(connection);
  return fits.ok();
}

void ControlPort::NoteRefused(const Connection& connection,
                              absl::string_view words) {
  refusal_log_.Add(clock_->Now(), PeerAddress(connection.fd).ToString(), words);
}

void ControlPort::TakeFrames(ConnectionId id, Connection& connection,
                             std::vector<ControlEvent>& events) {
  if (connection.closing) connection.received.clear();
  size_t taken = 0;
  while (true) {
    const absl::string_view rest =
        absl::string_view(connection.received).substr(taken);
    const absl::StatusOr<FrameHeader> header = FrameHeader::Decode(rest);
    if (!header.ok() && connection.is_stranger && rest[0] == kHandshakeRecord) {
      connection.queue.push_back(Bytes(
          Refusal::Of(Refusal::Reason::kHasNoKey, nullptr).EncodeFrame()));
      connection.queue_bytes += connection.queue.back().size();
      Fail(id, connection,
           absl::PermissionDeniedError("it wants a key, and we have none"));
      return Write(connection);
    }
    if (!header.ok()) {
      Fail(id, connection, header.status());
      break;
    }
    if (connection.is_stranger && !header->is_partial) {
      Open(id, connection, events);
    }
    const auto size =
        static_cast<size_t>(kFrameHeaderBytes + header->body_bytes);
    if (header->is_partial || rest.size() < size) break;
    const absl::string_view body =
        rest.substr(kFrameHeaderBytes, size - kFrameHeaderBytes);
    if (const absl::Status intact = header->Check(body); !intact.ok()) {
      Fail(id, connection, intact);
      break;
    }
    if (header->type == kRefusalType && !connection.address.empty()) {
      const absl::StatusOr<Refusal> refusal = connection.channel == nullptr
                                                  ? Refusal::DecodeClear(body)
                                                  : Refusal::Decode(body);
      Fail(id, connection,
           refusal.ok() ? absl::PermissionDeniedError(
                              refusal->WordsFor(connection.address, nullptr))
                        : refusal.status());
      break;
    }
    const bool is_hello = header->type == kHelloType;
    if (!connection.is_greeted) {
      const absl::StatusOr<WireHello> hello =
          is_hello ? WireHello::Decode(body) : WireHello();
      if (!hello.ok()) Fail(id, connection, hello.status());
      if (!hello.ok() || !Greet(id, connection, *hello)) return;
    }
    taken += size;
    if (is_hello) continue;
    connection.heard = next_heard_++;
    events.push_back({.kind = ControlEvent::Kind::kFrame,
                      .connection = id,
                      .type = header->type,
                      .body = Bytes::CopyOf(body)});
  }
  connection.received.erase(0, taken);
}

int64_t ControlPort::SendSome(Connection& connection,
                              absl::Span<const absl::string_view> parts) {
  while (true) {
    const int64_t size = SendParts(connection.fd, parts);
    if (size >= 0) return size;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      connection.broken = ErrorText("connection", errno);
    }
    return -1;
  }
}

void ControlPort::DropSent(Connection& connection, int64_t bytes) {
  connection.queue_bytes -= bytes;
  connection.sent_of_front += bytes;
  while (!connection.queue.empty() &&
         connection.sent_of_front >= connection.queue.front().size()) {
    connection.sent_of_front -= connection.queue.front().size();
    connection.queue.pop_front();
  }
}

void ControlPort::Write(Connection& connection) {
  if (connection.channel != nullptr) return WriteSealed(connection);
  while (!connection.queue.empty()) {
    absl::string_view parts[kPartsMax];
    size_t count = 0;
    for (const Bytes& queued : connection.queue) {
      if (count == kPartsMax) break;
      parts[count++] = queued.view();
    }
    parts[0].remove_prefix(connection.sent_of_front);
    const int64_t size = SendSome(connection, {parts, count});
    if (size < 0) return;
    DropSent(connection, size);
  }
}

void ControlPort::WriteSealed(Connection& connection) {
  SecureChannel& channel = *connection.channel;
  std::string small;  // gathered into one record
  while (true) {
    while (channel.is_open() && !connection.queue.empty() &&
           channel.unsent().size() < kUnsentBytesMax) {
      absl::string_view piece = connection.queue.front().view().substr(
          connection.sent_of_front, kUnsentBytesMax);
      if (piece.size() < kRecordBytes) {
        small.clear();
        size_t skip = static_cast<size_t>(connection.sent_of_front);
        for (const Bytes& queued : connection.queue) {
          if (small.size() == kRecordBytes) break;
          const absl::string_view rest = queued.view().substr(
              std::exchange(skip, 0), kRecordBytes - small.size());
          small.append(rest.data(), rest.size());
        }
        piece = small;
      }
      channel.Seal(piece);
      DropSent(connection, std::ssize(piece));
    }
    if (channel.unsent().empty()) return;
    const absl::string_view parts[] = {channel.unsent()};
    const int64_t size = SendSome(connection, parts);
    if (size < 0) return;
    channel.NoteSent(static_cast<size_t>(size));
  }
}

// Ends `id` if it broke, or was closed and has sent all; else waits for more.
void ControlPort::Settle(ConnectionId id, std::vector<ControlEvent>& events) {
  auto it = connections_.find(id);
  if (it == connections_.end()) return;
  Connection& connection = it->second;
  const bool is_shaking =
      connection.channel != nullptr && !connection.channel->is_open();
  if (!connection.broken.empty()) {
    if (!connection.closing && connection.is_known) {
      events.push_back({.kind = ControlEvent::Kind::kClosed,
                        .connection = id,
                        .cause = connection.broken,
                        .is_refusal = connection.has_refused,
                        .is_far = connection.is_far});
    }
    Remove(id);
  } else if (connection.is_refused) {
    // Bytes that it has sent are taken, or the system would drop our words with
    // them.
    if (!HasUnsent(connection)) shutdown(connection.fd, SHUT_WR);
    Arm(id, connection);
  } else if (connection.closing && (is_shaking || (connection.queue.empty() &&
                                                   !HasUnsent(connection)))) {
    Remove(id);
  } else {
    Arm(id, connection);
  }
}

}  // namespace dogged

#include "routing/control/health_port.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "routing/control/listening_socket.h"
#include "routing/control/socket_address.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr int kHealthBacklog = 64;
// Connections taken in, and bytes read of each, before others have their turn.
constexpr int kAcceptsPerTurn = 64;
constexpr int kReadsPerTurn = 4;
// A connection that sends more is no probe, whatever it says.
constexpr int64_t kTakenBytesMax = 64 << 10;
// The listening socket's mark among the connections' numbers.
constexpr uint64_t kHealthListener = 0;
constexpr absl::string_view kEndOfHead = "\r\n\r\n";

std::string AnswerOf(absl::string_view status, absl::string_view words,
                     bool has_body, absl::string_view further = "") {
  return absl::StrCat("HTTP/1.1 ", status,
                      "\r\nContent-Type: text/plain; charset=utf-8"
                      "\r\nContent-Length: ",
                      words.size() + 1,
                      "\r\nCache-Control: no-store"
                      "\r\nX-Content-Type-Options: nosniff"
                      "\r\nConnection: close\r\n",
                      further, "\r\n", has_body ? words : "",
                      has_body ? "\n" : "");
}

// Each field is NAME:, and a host is named, as HTTP/1.1 wants.
bool AreFieldsSound(absl::Span<const absl::string_view> fields,
                    bool wants_host) {
  int hosts = 0;
  for (const absl::string_view field : fields) {
    const size_t colon = field.find(':');
    if (colon == absl::string_view::npos || colon == 0) return false;
    const absl::string_view name = field.substr(0, colon);
    if (!std::all_of(name.begin(), name.end(), absl::ascii_isgraph)) {
      return false;
    }
    if (absl::EqualsIgnoreCase(name, "host")) ++hosts;
  }
  return hosts == 1 || (hosts == 0 && !wants_host);
}

}  // namespace

std::string HealthAnswer(absl::string_view request, const Health& health) {
  const std::vector<absl::string_view> lines = absl::StrSplit(request, "\r\n");
  const std::vector<absl::string_view> words = absl::StrSplit(lines[0], ' ');
  if (words.size() != 3 || !absl::StartsWith(words[2], "HTTP/")) {
    return AnswerOf("400 Bad Request", "no request of HTTP", true);
  }
  const bool is_old = words[2] == "HTTP/1.0";
  if (!is_old && words[2] != "HTTP/1.1") {
    return AnswerOf("505 HTTP Version Not Supported", "HTTP/1.1 is spoken here",
                    true);
  }
  if (!AreFieldsSound(absl::MakeConstSpan(lines).subspan(1), !is_old)) {
    return AnswerOf("400 Bad Request",
                    "its fields are none, or no Host is named", true);
  }
  const bool has_body = words[0] != "HEAD";
  if (has_body && words[0] != "GET") {
    return AnswerOf("405 Method Not Allowed", "GET and HEAD are", true,
                    "Allow: GET, HEAD\r\n");
  }
  const absl::string_view path = words[1].substr(0, words[1].find('?'));
  if (path != "/livez" && path != "/readyz") {
    return AnswerOf("404 Not Found", "there are /livez and /readyz", has_body);
  }
  // An agent that is to be ended is of no use either.
  const std::string& trouble = path == "/livez" || !health.not_alive.empty()
                                   ? health.not_alive
                                   : health.not_ready;
  return trouble.empty()
             ? AnswerOf("200 OK", "ok", has_body)
             : AnswerOf("503 Service Unavailable", trouble, has_body);
}

absl::StatusOr<std::unique_ptr<HealthPort>> HealthPort::Listen(
    absl::string_view address, Clock& clock) {
  std::unique_ptr<HealthPort> port(new HealthPort(clock));
  DOGGED_ASSIGN_OR_RETURN(const int fd,
                          OpenListeningSocket(address, kHealthBacklog));
  port->listen_fd_ = fd;
  port->epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  if (port->epoll_fd_ < 0) {
    return absl::ResourceExhaustedError(ErrorText("health port", errno));
  }
  port->address_ = LocalAddress(fd).ToString();
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kHealthListener;
  DOGGED_CHECK(epoll_ctl(port->epoll_fd_, EPOLL_CTL_ADD, fd, &event) == 0);
  return port;
}

HealthPort::~HealthPort() {
  for (auto& [id, connection] : connections_) close(connection.fd);
  if (listen_fd_ >= 0) close(listen_fd_);
  if (epoll_fd_ >= 0) close(epoll_fd_);
}

void HealthPort::Remove(uint64_t id) {
  const auto it = connections_.find(id);
  if (it == connections_.end()) return;
  close(it->second.fd);
  deadlines_.Clear(id);
  connections_.erase(it);
}

void HealthPort::SetListening(bool is_listening) {
  if (is_listening_ == is_listening) return;
  is_listening_ = is_listening;
  epoll_event event{};
  if (is_listening) event.events = EPOLLIN;
  event.data.u64 = kHealthListener;
  epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, listen_fd_, &event);
}

void HealthPort::Accept() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    const int fd =
        accept4(listen_fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    const bool has_room = fd >= 0 || (errno != EMFILE && errno != ENFILE);
    // The listening descriptor would stay readable.
    if (!has_room) return SetListening(false);
    if (fd < 0) return;
    const uint64_t id = next_id_++;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = id;
    if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) != 0) {
      close(fd);
      continue;
    }
    connections_[id].fd = fd;
    deadlines_.Set(id, kTime);
    // The oldest has had the longest time to say its line.
    if (connection_count() > kConnectionsMax) {
      Remove(connections_.begin()->first);
    }
  }
}

bool HealthPort::Read(Connection& connection, const Health& health) {
  char bytes[1024];
  for (int i = 0; i < kReadsPerTurn; ++i) {
    const ssize_t size = recv(connection.fd, bytes, sizeof(bytes), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (size == 0) return false;
    connection.taken += size;
    if (connection.taken > kTakenBytesMax) return false;
    // Bytes behind a head are read, or the system would drop the answer with
    // them, and are nothing to anybody.
    if (!connection.answer.empty()) continue;
    connection.received.append(bytes, static_cast<size_t>(size));
    const size_t end = absl::string_view(connection.received).find(kEndOfHead);
    if (end != absl::string_view::npos && end <= kRequestBytesMax) {
      connection.answer = HealthAnswer(
          absl::string_view(connection.received).substr(0, end), health);
    } else if (std::ssize(connection.received) > kRequestBytesMax) {
      connection.answer = AnswerOf("431 Request Header Fields Too Large",
                                   "that is too long for a request", true);
    } else {
      continue;
    }
    connection.received = {};
  }
  return true;
}

bool HealthPort::Serve(uint64_t id, Connection& connection,
                       const Health& health) {
  if (!Read(connection, health)) return false;
  const absl::string_view rest =
      absl::string_view(connection.answer).substr(connection.sent);
  if (rest.empty()) return true;
  const ssize_t size =
      send(connection.fd, rest.data(), rest.size(), MSG_NOSIGNAL);
  const bool must_wait =
      size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  if (size < 0 && !must_wait) return false;
  if (size > 0) connection.sent += static_cast<size_t>(size);
  const bool is_through = connection.sent == connection.answer.size();
  if (is_through) shutdown(connection.fd, SHUT_WR);
  epoll_event event{};
  event.events = is_through ? EPOLLIN : EPOLLIN | EPOLLOUT;
  event.data.u64 = id;
  return epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, connection.fd, &event) == 0;
}

void HealthPort::Poll(const Health& health) {
  SetListening(true);
  epoll_event ready[64];
  const int count = epoll_wait(epoll_fd_, ready, 64, 0);
  for (int i = 0; i < count; ++i) {
    const uint64_t id = ready[i].data.u64;
    if (id == kHealthListener) {
      Accept();
      continue;
    }
    const auto it = connections_.find(id);
    if (it != connections_.end() && !Serve(id, it->second, health)) Remove(id);
  }
  for (const uint64_t overdue : deadlines_.TakeDue(clock_.Now())) {
    Remove(overdue);
  }
}

}  // namespace dogged

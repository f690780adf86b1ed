// HealthPort: whether an agent is well, for schedulers that start and end it:
// HTTP/1.1 (RFC 9112), GET and HEAD of /livez and /readyz alone. The answer is
// 200, or 503 and why, and each connection has one. Nobody needs a key, for
// nothing else is told.
//
// It never blocks, it is polled. Connections are few, have little room, and end
// soon: strangers that are slow, silent or many take nothing from an agent, and
// a probe that says its line at once is answered beside them.
#ifndef DOGGED_ROUTING_CONTROL_HEALTH_PORT_H_
#define DOGGED_ROUTING_CONTROL_HEALTH_PORT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "routing/control/polled_deadlines.h"
#include "runtime/base/clock.h"

namespace dogged {

struct Health {
  std::string not_alive;  // why it should be ended; empty: it is alive
  std::string not_ready;  // why it is of no use now; empty: it is ready
};

// The answer to `request`, a head without its last empty line.
std::string HealthAnswer(absl::string_view request, const Health& health);

class HealthPort {
 public:
  static constexpr int64_t kRequestBytesMax = 4096;
  static constexpr int64_t kConnectionsMax = 64;
  // The time of a connection, for all that it has to say and to hear.
  static constexpr absl::Duration kTime = absl::Seconds(5);

  // Errors: as ControlPort::Listen(). `clock` outlives the port.
  static absl::StatusOr<std::unique_ptr<HealthPort>> Listen(
      absl::string_view address, Clock& clock);
  ~HealthPort();
  HealthPort(const HealthPort&) = delete;
  HealthPort& operator=(const HealthPort&) = delete;

  // Numeric, with the true port.
  const std::string& address() const { return address_; }
  // Readable when Poll has something to do, but for ends of time.
  int wait_fd() const { return epoll_fd_; }
  // Answers all that can be answered without waiting. To be called once a
  // second at least.
  void Poll(const Health& health);

  int64_t connection_count() const { return std::ssize(connections_); }

 private:
  struct Connection {
    int fd = -1;
    std::string received;
    std::string answer;  // not empty: nothing is heard any more
    size_t sent = 0;     // of it
    int64_t taken = 0;   // bytes from the other end
  };

  explicit HealthPort(Clock& clock) : clock_(clock) {}
  void Accept();
  void SetListening(bool is_listening);
  // False once the connection has ended.
  bool Serve(uint64_t id, Connection& connection, const Health& health);
  static bool Read(Connection& connection, const Health& health);
  void Remove(uint64_t id);

  Clock& clock_;
  int epoll_fd_ = -1;
  int listen_fd_ = -1;
  bool is_listening_ = true;
  std::string address_;
  uint64_t next_id_ = 1;
  std::map<uint64_t, Connection> connections_;
  PolledDeadlines deadlines_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_HEALTH_PORT_H_

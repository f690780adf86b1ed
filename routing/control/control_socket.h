// The control port: plain TCP between clients and agents, and the life lines
// between agents. Frames of a type and a body, here opaque.
//
//   frame: u32 magic, u32 body length, u8 type, u32 checksum, body;
//          little-endian.
//
// ControlPort is the agent's side: it never blocks, it is polled, and it tells
// of frames and of ends; control_client.h has the other side. Bytes that are no
// frame end the connection, are counted, and change nothing else; memory is
// taken only as bytes arrive.
//
// Connections that come in leave some of the descriptors that this process may
// have to others. Beyond, those end that have been silent longest, but for the
// ones to keep; so a new client is heard.
#ifndef DOGGED_ROUTING_CONTROL_CONTROL_SOCKET_H_
#define DOGGED_ROUTING_CONTROL_CONTROL_SOCKET_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"

namespace dogged {

inline constexpr int64_t kControlFrameBytesMax = 1 << 30;

// Names a connection of one ControlPort; never used twice.
using ConnectionId = Id<struct ConnectionIdTag>;

struct ControlEvent {
  enum class Kind {
    kAccepted,   // a client connected to this port
    kConnected,  // a Connect of ours succeeded
    kFrame,
    kClosed,  // `cause` says why; the last event of its connection
  };
  Kind kind = Kind::kFrame;
  ConnectionId connection;
  uint8_t type = 0;
  Bytes body;
  std::string cause;
};

class ControlPort {
 public:
  // Listens at `address`, "HOST:PORT" or "[IPV6]:PORT"; port 0 takes a free
  // one. Errors: kInvalidArgument for a malformed address, kUnavailable naming
  // the address when it is in use or not ours.
  static absl::StatusOr<std::unique_ptr<ControlPort>> Listen(
      absl::string_view address);
  ~ControlPort();
  ControlPort(const ControlPort&) = delete;
  ControlPort& operator=(const ControlPort&) = delete;

  // Where others reach it: numeric, with the true port.
  const std::string& address() const { return address_; }
  // Readable when Poll has something to do.
  int wait_fd() const { return epoll_fd_; }

  // Poll has something to do that wait_fd() does not tell.
  bool has_unsettled() const { return !unsettled_.empty(); }
  // Moves bytes as far as that goes without waiting; appends the events since
  // the last call.
  void Poll(std::vector<ControlEvent>& events);

  // Starts to connect to another control port: kConnected or kClosed follows.
  // The address should be numeric; a name is looked up, which may block.
  ConnectionId Connect(absl::string_view address);

  // Queues a frame; to a connection that is gone, nothing happens. A connection
  // with more than kControlFrameBytesMax bytes queued is closed.
  void Send(ConnectionId connection, uint8_t type, const Bytes& body);

  // Bytes that wait for the other end to take them.
  int64_t queued_bytes(ConnectionId connection) const {
    const auto it = connections_.find(connection);
    return it == connections_.end() ? 0 : it->second.queue_bytes;
  }
  // Ends the connection once all that is queued was sent. No kClosed follows.
  void Close(ConnectionId connection);
  // `connection` is not ended for want of descriptors.
  void Keep(ConnectionId connection);

  // Connections that sent something else than frames, or found no room.
  int64_t refused_count() const { return refused_count_; }
  int64_t connection_count() const { return std::ssize(connections_); }

 private:
  struct Connection {
    int fd = -1;
    bool connecting = false;
    bool closing = false;  // by Close, when `queue` is empty
    bool may_end = false;  // it came in, and nobody said to keep it
    uint64_t heard = 0;    // its last frame, or its beginning, of all
    std::string received;
    std::deque<Bytes> queue;
    int64_t queue_bytes = 0;
    int64_t sent_of_front = 0;
    uint32_t armed = 0;  // the events that it waits for
    std::string broken;  // not empty: why it ends
  };

  ControlPort() = default;
  ConnectionId Add(int fd, bool connecting);
  void Remove(ConnectionId id);
  void Accept(std::vector<ControlEvent>& events);
  // Ends the connection that has been silent longest; false if none may end.
  bool EndSilent(std::vector<ControlEvent>& events);
  // There are no descriptors: takes the next one in and ends it. False if that
  // can't be done either.
  bool Refuse();
  void SetListening(bool is_listening);
  void FinishConnect(ConnectionId id, Connection& connection,
                     std::vector<ControlEvent>& events);
  void Read(ConnectionId id, Connection& connection,
            std::vector<ControlEvent>& events);
  void TakeFrames(ConnectionId id, Connection& connection,
                  std::vector<ControlEvent>& events);
  static void Write(Connection& connection);
  void Arm(ConnectionId id, Connection& connection);
  void Settle(ConnectionId id, std::vector<ControlEvent>& events);

  int epoll_fd_ = -1;
  int listen_fd_ = -1;
  int reserve_fd_ = -1;  // given up to refuse connections without descriptors
  bool is_listening_ = true;
  // Descriptors are given in order: from this one on few are left.
  int64_t fd_max_ = 0;
  uint64_t next_heard_ = 1;
  bool has_said_ = false;  // that connections end for want of descriptors
  std::string address_;
  uint64_t next_id_ = 1;
  absl::btree_map<ConnectionId, Connection> connections_;
  std::vector<ConnectionId> unsettled_;  // touched outside of Poll
  int64_t refused_count_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_CONTROL_SOCKET_H_

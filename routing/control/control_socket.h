// The control port: TCP between clients and agents, and the life lines between
// agents. Frames of a type and a body, here opaque.
//
//   frame: u32 magic, u32 body length, u8 type, u32 checksum, body;
//          little-endian.
//
// ControlPort is the agent's side: it never blocks, it is polled, and it tells
// of frames and of ends; control_client.h has the other side. Bytes that are no
// frame end the connection, are counted, and change nothing else; memory is
// taken only as bytes arrive.
//
// A port with credentials speaks TLS alone (secure_channel.h), one without
// speaks plainly; either tells the other sort so (refusal.h). A connection that
// came in is a *stranger* until it has shown what it has, or where nothing is
// wanted the head of a frame. Strangers are few, are not heard of, and end
// soon.
//
// Either end begins with a hello (runtime/base/wire_version.h), the accepting
// one once it has heard the other's. An end whose version of the wire is too
// far from this one's is not heard: it gets the hello, by which it knows.
//
// Connections that come in leave some of the descriptors that this process may
// have to others. Beyond, those end that have been silent longest, but for the
// ones to keep; so a new client is heard.
#ifndef DOGGED_ROUTING_CONTROL_CONTROL_SOCKET_H_
#define DOGGED_ROUTING_CONTROL_CONTROL_SOCKET_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "routing/control/polled_deadlines.h"
#include "routing/control/refusal.h"
#include "routing/control/secure_channel.h"
#include "routing/control/secure_ends.h"
#include "routing/trust/credentials.h"
#include "runtime/base/bytes.h"
#include "runtime/base/clock.h"
#include "runtime/base/ids.h"
#include "runtime/base/wire_version.h"

namespace dogged {

inline constexpr int64_t kControlFrameBytesMax = 1 << 30;

// Names a connection of one ControlPort; never used twice.
using ConnectionId = Id<struct ConnectionIdTag>;

struct ControlEvent {
  enum class Kind {
    kAccepted,   // a client connected to this port, and may
    kConnected,  // a Connect of ours succeeded
    kFrame,
    kClosed,  // `cause` says why; the last event of its connection
  };
  Kind kind = Kind::kFrame;
  ConnectionId connection;
  uint8_t type = 0;
  Bytes body;
  std::string cause;
  bool is_refusal = false;  // `cause` is that the ends don't trust each other,
  bool is_far = false;      // or no version of the wire in common
};

class ControlPort {
 public:
  struct Options {
    Credentials* credentials = nullptr;  // null: none; outlives the port
    // Connections to others are by a key alone, which both ends have then: a
    // certificate says nothing of that.
    bool connects_by_key = false;
    Clock* clock = nullptr;  // null: that of the system; outlives the port
  };
  // Listens at `address`, "HOST:PORT" or "[IPV6]:PORT"; port 0 takes a free
  // one. Errors: kInvalidArgument for a malformed address, kUnavailable naming
  // the address when it is in use or not ours.
  static absl::StatusOr<std::unique_ptr<ControlPort>> Listen(
      absl::string_view address, Options options);
  static absl::StatusOr<std::unique_ptr<ControlPort>> Listen(
      absl::string_view address) {
    return Listen(address, Options());
  }
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
  // the last call. To be called a few times a second at least.
  void Poll(std::vector<ControlEvent>& events);

  // Starts to connect to another control port: kConnected or kClosed follows.
  // The address should be numeric; a name is looked up, which may block.
  ConnectionId Connect(absl::string_view address);

  // Queues a frame; to a connection that is gone, nothing happens. A connection
  // with more than kControlFrameBytesMax bytes queued is closed.
  void Send(ConnectionId connection, uint8_t type, const Bytes& body);

  // The numeric address of the other end's host; empty for one that is gone.
  std::string PeerHost(ConnectionId connection) const;
  // Bytes that wait for the other end to take them.
  int64_t queued_bytes(ConnectionId connection) const;
  // Ends the connection once all that is queued was sent. No kClosed follows.
  void Close(ConnectionId connection);
  // `connection` is not ended for want of descriptors.
  void Keep(ConnectionId connection);

  // Connections that sent something else than frames, had not the key, spoke
  // another wire, were silent strangers, or found no room.
  int64_t refused_count() const { return refused_count_; }
  // Ids of its keys, the used one first; none without keys.
  std::vector<std::string> KeyIds() const;
  int64_t connection_count() const { return std::ssize(connections_); }

 private:
  struct Connection {
    int fd = -1;
    std::string address;  // that we connect to
    bool connecting = false;
    bool closing = false;  // by Close, when `queue` is empty
    bool is_stranger = false;
    bool is_known = false;     // an event has told of it, or Connect
    bool is_refused = false;   // it gets words, and is heard no more
    bool has_refused = false;  // `broken` has the words of a Refusal,
    bool is_far = false;       // or those about its version of the wire
    bool is_greeted = false;   // its hello was heard, or that it says none
    bool may_end = false;      // it came in, and nobody said to keep it
    uint64_t heard = 0;        // its last frame, or its beginning, of all
    std::string received;
    std::deque<Bytes> queue;
    int64_t queue_bytes = 0;
    int64_t sent_of_front = 0;
    std::unique_ptr<SecureChannel> channel;  // null: it is plain
    uint32_t armed = 0;                      // the events that it waits for
    std::string broken;                      // not empty: why it ends
  };

  ControlPort() = default;
  static bool HasUnsent(const Connection& connection);
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
  // Takes bytes from the network.
  void Take(ConnectionId id, Connection& connection, absl::string_view bytes,
            std::vector<ControlEvent>& events);
  // The other end has shown what it is.
  void Open(ConnectionId id, Connection& connection,
            std::vector<ControlEvent>& events);
  // Takes the other end's hello. False if it is not heard any further.
  bool Greet(ConnectionId id, Connection& connection, const WireHello& theirs);
  // Ends a connection that sent what it must not, or has not the key.
  void Fail(ConnectionId id, Connection& connection,
            const absl::Status& status);
  void NoteRefused(const Connection& connection, absl::string_view words);
  void EndOverdue(std::vector<ControlEvent>& events);
  static void Write(Connection& connection);
  static void WriteSealed(Connection& connection);
  // As SendParts; notes an error in `connection`: -1 then, or if it has to
  // wait.
  static int64_t SendSome(Connection& connection,
                          absl::Span<const absl::string_view> parts);
  static void DropSent(Connection& connection, int64_t bytes);
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
  std::map<ConnectionId, Connection> connections_;
  std::vector<ConnectionId> unsettled_;  // touched outside of Poll
  int64_t refused_count_ = 0;
  std::set<ConnectionId> strangers_;
  PolledDeadlines deadlines_;  // of strangers, and of those that are refused
  RefusalLog refusal_log_;
  SystemClock system_clock_;
  Clock* clock_ = &system_clock_;
  std::unique_ptr<SecureEnds> secure_;  // null: without credentials
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_CONTROL_SOCKET_H_

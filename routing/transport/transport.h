// Transport: the port through which an agent's bytes reach other agents.
//
// Datagram semantics: a message may be lost, doubled, reordered or delayed, but
// an arrived message is whole, or is refused by its checksum (envelope.h).
// Nothing here ever waits for a peer: a peer that is slow, stopped or dead
// costs messages to that peer alone. Used by one thread.
#ifndef DOGGED_ROUTING_TRANSPORT_TRANSPORT_H_
#define DOGGED_ROUTING_TRANSPORT_TRANSPORT_H_

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"

namespace dogged {

// A message that came in. `from` is as the sender claims.
struct Arrival {
  AgentId from;
  Bytes message;
};

// Separator in an address: after it follows another address of the same agent.
// A transport that does not know the latter goes by the former.
inline constexpr char kOtherWay = ';';

// Separator in an address: after it follow a word for how messages to there are
// protected, ':', and a key.
inline constexpr char kProtection = '#';

// That word; "plain" without any.
inline absl::string_view ProtectionOf(absl::string_view address) {
  const size_t at = address.find(kProtection);
  if (at == absl::string_view::npos) return "plain";
  const absl::string_view rest = address.substr(at + 1);
  return rest.substr(0, rest.find(':'));
}

class Transport {
 public:
  virtual ~Transport() = default;

  // Hands `message` over for sending. Never blocks; a message to a peer that
  // is unknown, or whose queue is full, is dropped and counted.
  virtual void Send(AgentId to, Bytes message) = 0;
  // The same for a message in two parts, which need not lie together.
  virtual void SendParts(AgentId to, const Bytes& head, const Bytes& body) {
    std::string message;
    message.reserve(head.size() + body.size());
    message.append(head.data(), static_cast<size_t>(head.size()));
    message.append(body.data(), static_cast<size_t>(body.size()));
    Send(to, Bytes(std::move(message)));
  }
  // Longer messages to `to` should be cut.
  virtual int64_t message_bytes_max(AgentId /*to*/) const {
    return std::numeric_limits<int64_t>::max();
  }

  // A message to `to` follows soon: if it sleeps, it wakes up meanwhile. Only
  // for speed.
  virtual void WakeEarly(AgentId /*to*/) {}

  // Appends arrived messages, in order, and moves queued ones.
  virtual void Poll(std::vector<Arrival>& arrivals) = 0;

  // From now on `peer` is reached at `fabric_address`, the address() of its
  // transport. Setting the same address again changes nothing.
  virtual void SetPeer(AgentId peer, absl::string_view fabric_address) = 0;

  // Drops messages queued for `peer`, which counts as dead; later ones are
  // sent.
  virtual void DropQueued(AgentId /*peer*/) {}

  // Drops messages queued for `peer`; later sends to it are dropped as well.
  virtual void ForgetPeer(AgentId peer) = 0;

  // The address at which peers reach this transport.
  virtual std::string address() const = 0;

  // Bytes that wait for `peer` to take them.
  virtual int64_t queued_bytes(AgentId peer) const = 0;

  // A descriptor that becomes readable when Poll has something to do, or -1.
  virtual int wait_fd() const { return -1; }

  // True when it is right to sleep on wait_fd() now; false: call Poll first.
  virtual bool PrepareToWait() { return true; }

  // A thread sleeps on wait_fd() since PrepareToWait(), or no longer does.
  // While it does, Poll may leave work to it that would wake it. Another thread
  // that sends or polls meanwhile may no longer wake it: HasArrivals() tells
  // instead, until the next PrepareToWait().
  virtual void SetWaiting(bool /*is_waiting*/) {}

  // A descriptor for a second sleeper, which is woken in place of the first
  // one, by some messages at least, after PrepareToListen(); or -1.
  virtual int listen_fd() const { return -1; }
  virtual bool PrepareToListen() { return PrepareToWait(); }

  // Poll has something: to be called again and again, by a thread that polls
  // for a short while instead of sleeping. False if only wait_fd() tells.
  virtual bool HasArrivals() const { return false; }

  // Messages dropped here: no such peer, full queue, not for this agent.
  virtual int64_t dropped_count() const { return 0; }
  // Messages that came, and that no member can have sent like that to this
  // incarnation.
  virtual int64_t refused_count() const { return 0; }
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRANSPORT_TRANSPORT_H_

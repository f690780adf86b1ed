// Mailbox: messages between the transport and the components of one agent.
// Poll() unpacks arrivals, Take() hands messages out, Flush() packs the outbox
// and sends it; messages of this agent to itself join those that arrived.
// Agents that are out of reach are written to by way of a relay.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_MAILBOX_H_
#define DOGGED_RUNTIME_AGENT_MAILBOX_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "routing/membership/view.h"
#include "routing/transport/packing.h"
#include "routing/transport/transport.h"
#include "runtime/agent/agent_context.h"
#include "runtime/base/bytes.h"

namespace dogged {

class Mailbox {
 public:
  Mailbox(AgentContext& agent, Transport& transport);
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Takes arrivals in; false if there are none.
  bool Poll(absl::Time now);
  // Messages that came since the last call, in order.
  std::vector<Message> Take() { return std::exchange(messages_, {}); }
  bool HasMessages() const { return !messages_.empty(); }
  void Tick(absl::Time now) { unpacker_.Tick(now); }
  // Sends the outbox, as far as queues have room; the rest goes later.
  void Flush(absl::Time now);
  // Sends on the body of a kRelay message. Errors: kInvalidArgument.
  absl::Status Forward(const Bytes& relayed) {
    return packer_.Forward(relayed, transport_);
  }

  void SetPeer(const Member& peer) {
    transport_.SetPeer(peer.id, peer.fabric_address);
  }
  // `peer` counts as dead: messages that wait for it are dropped, and those in
  // part, to it and from it.
  void DropQueued(AgentId peer);
  // No message to `peer` is sent any more.
  void ForgetPeer(AgentId peer);
  // Bytes that wait for a link to `to`, or around it.
  int64_t QueuedBytes(AgentId to) const;
  // Bytes a second that the link to `to` takes, or the way around it; 0:
  // unknown.
  double LinkRate(AgentId to) const;

  int64_t messages_sent() const { return packer_.messages_sent(); }
  int64_t bytes_sent() const { return packer_.bytes_sent(); }
  // Messages that were not sent, or came in part only.
  int64_t dropped_count() const;
  int64_t refused_count() const {
    return unpacker_.refused_count() + transport_.refused_count();
  }

 private:
  AgentContext& agent_;
  Transport& transport_;
  Packer packer_;                  // parts of messages to others
  Unpacker unpacker_;              // parts of messages of others
  std::vector<Arrival> arrivals_;  // of the last Poll()
  std::vector<Message> messages_;  // until Take()
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_MAILBOX_H_

// Packer and Unpacker: between the outbox and the transport. Small messages to
// the same agent within one pass travel as one transport message of up to
// limits.packet_bytes_max; those of limits.alone_bytes or more travel alone, so
// that a relay need not wait for the next one; longer bodies are cut, and put
// together on arrival. A body longer than the bytes that may wait for an agent
// goes as that agent takes it, beside shorter messages. Packets for an agent
// that the sender does not reach travel inside a message to an agent that
// reaches both.
#ifndef DOGGED_ROUTING_TRANSPORT_PACKING_H_
#define DOGGED_ROUTING_TRANSPORT_PACKING_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "routing/transport/envelope.h"
#include "routing/transport/link_rates.h"
#include "routing/transport/outbox.h"
#include "routing/transport/segmenter.h"
#include "routing/transport/transport.h"
#include "runtime/base/ids.h"
#include "runtime/base/limits.h"
#include "runtime/base/split_bytes.h"

namespace dogged {

class Packer {
 public:
  // By way of which agent messages to another go; none: directly.
  using RelayOf = std::function<AgentId(AgentId to)>;

  Packer(AgentId self, const Limits& limits)
      : self_(self),
        segment_bytes_(limits.segment_bytes),
        packet_bytes_max_(
            std::min(limits.packet_bytes_max, limits.segment_bytes)),
        alone_bytes_(limits.alone_bytes),
        queue_bytes_max_(limits.outbox_bytes_max),
        rests_bytes_max_(limits.outbox_bytes_max) {}

  // Sends all that `outbox` holds and leaves it empty; its wake-up time stays.
  // Messages to this agent itself are appended to `to_self`. Parts of long
  // bodies that `transport` has no room for are sent later: IsBehind().
  void Flush(ViewDigest view, Outbox& outbox, Transport& transport,
             std::vector<Message>& to_self);
  // Parts of messages are still here: call Flush() again soon.
  bool IsBehind() const { return !rests_.empty(); }
  // Bytes of those parts that are for `to`.
  int64_t waiting_bytes(AgentId to) const;
  // Looks at what waits for whom, once every few milliseconds.
  void SampleLinks(absl::Time now, const Transport& transport);
  const LinkRates& link_rates() const { return link_rates_; }
  // `to` is gone: drops the parts for it.
  void Forget(AgentId to);
  // Without it all goes directly. Pings and their answers do in any case: they
  // say whether that is possible.
  void SetRelays(RelayOf relay_of) { relay_of_ = std::move(relay_of); }
  // Forwards the packet of a kRelay message. Errors: kInvalidArgument.
  absl::Status Forward(const Bytes& relayed, Transport& transport);

  int64_t messages_sent() const { return messages_sent_; }
  int64_t packets_sent() const { return packets_sent_; }
  int64_t bytes_sent() const { return bytes_sent_; }
  // Packets of this agent that went by way of another one.
  int64_t relayed_count() const { return relayed_count_; }
  // Long messages that were not sent, as others waited for the same agent.
  int64_t dropped_count() const { return dropped_count_; }

 private:
  // A message that is cut, from `offset` on.
  struct Rest {
    Envelope head;
    SplitBytes body;
    uint64_t message_id = 0;
    int64_t offset = 0;
  };
  // Appends a message, or the segments of one, to `packet`; sends full ones.
  void Pack(const Envelope& head, const SplitBytes& body, Transport& transport,
            std::string& packet);
  void Ship(AgentId to, Transport& transport, std::string& packet);
  // One whose head lies in `head`, which is taken.
  void ShipParts(AgentId to, std::string& head, const Bytes& body,
                 Transport& transport);
  void Send(AgentId next, Bytes packet, Transport& transport);
  void Count(AgentId next, int64_t bytes);
  // Longer bodies are cut for `next`.
  int64_t SegmentBytes(AgentId next, const Transport& transport) const;
  AgentId RouteOf(const Outbox::OutgoingMessage& wish) const;
  // Sends segments as far as they find room. True: that was all of it.
  bool Advance(Rest& rest, Transport& transport);
  void AdvanceAll(Transport& transport);

  AgentId self_;
  RelayOf relay_of_ = [](AgentId) { return AgentId(); };
  ViewDigest view_;  // of this Flush
  AgentId relay_;    // of the packet at hand
  int64_t segment_bytes_;
  int64_t packet_bytes_max_;
  int64_t alone_bytes_;
  // Short messages have the other half of a queue to themselves.
  int64_t queue_bytes_max_;
  int64_t rests_bytes_max_;
  std::map<AgentId, std::deque<Rest>> rests_;
  std::map<AgentId, int64_t> sent_;  // bytes, by the next hop
  LinkRates link_rates_;
  absl::Time next_sample_ = absl::InfinitePast();
  uint64_t next_message_id_ = 1;
  int64_t messages_sent_ = 0;
  int64_t packets_sent_ = 0;
  int64_t bytes_sent_ = 0;
  int64_t relayed_count_ = 0;
  int64_t dropped_count_ = 0;
};

class Unpacker {
 public:
  Unpacker(AgentId self, const Limits& limits);

  // Appends the messages of `arrival` that are whole and for this agent.
  // Messages that are malformed, corrupt or for another incarnation are only
  // counted.
  void Open(absl::Time now, const Arrival& arrival, std::vector<Message>& out);

  // Drops incomplete messages that have waited too long.
  void Tick(absl::Time now) { reassembler_.Expire(now); }
  // Drops incomplete messages of `peer`.
  void Forget(AgentId peer) { reassembler_.Forget(peer); }

  // Garbage: malformed, corrupt, or contradicting itself.
  int64_t refused_count() const { return refused_count_; }
  // Sound, but for another incarnation at this address.
  int64_t misdirected_count() const { return misdirected_count_; }
  int64_t incomplete_count() const { return reassembler_.expired_count(); }

 private:
  AgentId self_;
  Reassembler reassembler_;
  int64_t refused_count_ = 0;
  int64_t misdirected_count_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRANSPORT_PACKING_H_

#include "routing/transport/packing.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "runtime/base/codec.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Between two looks at what waits for whom.
constexpr absl::Duration kSampleInterval = absl::Milliseconds(5);

}  // namespace

void Packer::Flush(ViewDigest view, Outbox& outbox, Transport& transport,
                   std::vector<Message>& to_self) {
  std::vector<Outbox::OutgoingMessage> messages = std::move(outbox.messages);
  outbox.messages.clear();
  std::stable_sort(messages.begin(), messages.end(),
                   [](const auto& a, const auto& b) { return a.to < b.to; });
  AdvanceAll(transport);
  std::string packet;
  view_ = view;
  for (size_t i = 0; i < messages.size(); ++i) {
    Outbox::OutgoingMessage& wish = messages[i];
    const AgentId relay = RouteOf(wish);
    if (relay != relay_) {
      Ship(wish.to, transport, packet);
      relay_ = relay;
    }
    Envelope head;
    if (!relay.IsNone()) head.flags |= Envelope::kRelayedFlag;
    head.kind = wish.kind;
    head.source = self_;
    head.target = wish.to;
    head.view = view;
    head.job = wish.job;
    head.length = wish.body.size();
    if (wish.to == self_) {
      to_self.push_back({head, wish.body.Join()});
      continue;
    }
    ++messages_sent_;
    Pack(head, wish.body, transport, packet);
    if (i + 1 == messages.size() || messages[i + 1].to != wish.to) {
      Ship(wish.to, transport, packet);
      relay_ = AgentId();
    }
  }
}

AgentId Packer::RouteOf(const Outbox::OutgoingMessage& wish) const {
  switch (static_cast<RoutingKind>(wish.kind)) {
    case RoutingKind::kPing:
    case RoutingKind::kPingAck:
    case RoutingKind::kRelay:
      return AgentId();
    default:
      return wish.to == self_ ? AgentId() : relay_of_(wish.to);
  }
}

absl::Status Packer::Forward(const Bytes& relayed, Transport& transport) {
  Decoder decoder(relayed.view());
  const auto to = decoder.GetId<AgentId>();
  const absl::string_view packet = decoder.GetString();
  DOGGED_RETURN_IF_ERROR(decoder.Finish("relayed packet"));
  Send(to, Bytes::CopyOf(packet), transport);
  return absl::OkStatus();
}

void Packer::Pack(const Envelope& head, const SplitBytes& body,
                  Transport& transport, std::string& packet) {
  const AgentId next = relay_.IsNone() ? head.target : relay_;
  if (body.size() <= SegmentBytes(next, transport)) {
    const int64_t size = Envelope::kBytes + body.size();
    const bool alone = body.size() >= alone_bytes_;
    if (alone || std::ssize(packet) + size > packet_bytes_max_) {
      Ship(head.target, transport, packet);
    }
    const absl::string_view first = body.head.view();
    if (!alone) return AppendMessage(head, first, body.rest.view(), packet);
    AppendHead(head, first, body.rest.view(), packet);
    ShipParts(head.target, packet, body.rest, transport);
    return;
  }
  Ship(head.target, transport, packet);
  Rest rest{.head = head, .body = body, .message_id = next_message_id_++};
  const auto waiting = rests_.find(head.target);
  if (waiting == rests_.end()) {
    if (!Advance(rest, transport)) {
      rests_[head.target].push_back(std::move(rest));
    }
  } else if (waiting_bytes(head.target) + body.size() > rests_bytes_max_) {
    // Receivers that wait for the message have it repeated.
    ++dropped_count_;
  } else {
    waiting->second.push_back(std::move(rest));
  }
}

bool Packer::Advance(Rest& rest, Transport& transport) {
  const AgentId to = rest.head.target;
  const AgentId relay = relay_of_(to);
  const AgentId next = relay.IsNone() ? to : relay;
  const AgentId relay_before = std::exchange(relay_, relay);
  const absl::Cleanup restore = [&] { relay_ = relay_before; };
  rest.head.flags = Envelope::kSegmentFlag;
  if (!relay.IsNone()) rest.head.flags |= Envelope::kRelayedFlag;
  const int64_t total = rest.body.size();
  std::string packet;
  while (rest.offset < total) {
    const int64_t size =
        std::min(SegmentBytes(next, transport), total - rest.offset);
    const int64_t queued = transport.queued_bytes(next);
    if (queued > 0 && queued + size > queue_bytes_max_ / 2) return false;
    Encoder encoder;
    SegmentHeader{rest.message_id, rest.offset, total}.EncodeTo(encoder);
    const SplitBytes piece = rest.body.Slice(rest.offset, size);
    encoder.PutRaw(piece.head.view());
    AppendHead(rest.head, encoder.view(), piece.rest.view(), packet);
    ShipParts(to, packet, piece.rest, transport);
    rest.offset += size;
  }
  return true;
}

int64_t Packer::SegmentBytes(AgentId next, const Transport& transport) const {
  return std::min(segment_bytes_, transport.message_bytes_max(next));
}

void Packer::AdvanceAll(Transport& transport) {
  for (auto it = rests_.begin(); it != rests_.end();) {
    std::deque<Rest>& waiting = it->second;
    while (!waiting.empty() && Advance(waiting.front(), transport)) {
      waiting.pop_front();
    }
    it = waiting.empty() ? rests_.erase(it) : std::next(it);
  }
}

int64_t Packer::waiting_bytes(AgentId to) const {
  const auto waiting = rests_.find(to);
  int64_t bytes = 0;
  if (waiting == rests_.end()) return bytes;
  for (const Rest& rest : waiting->second) {
    bytes += rest.body.size() - rest.offset;
  }
  return bytes;
}

void Packer::Forget(AgentId to) {
  sent_.erase(to);
  link_rates_.Forget(to);
  const auto waiting = rests_.find(to);
  if (waiting == rests_.end()) return;
  dropped_count_ += std::ssize(waiting->second);
  rests_.erase(waiting);
}

void Packer::Ship(AgentId to, Transport& transport, std::string& packet) {
  if (packet.empty()) return;
  if (!relay_.IsNone()) {
    Encoder body;
    body.PutId(to);
    body.PutString(packet);
    const Envelope head{.kind = static_cast<uint8_t>(RoutingKind::kRelay),
                        .source = self_,
                        .target = relay_,
                        .view = view_};
    packet.clear();
    AppendMessage(head, body.view(), {}, packet);
    to = relay_;
    ++relayed_count_;
  }
  Send(to, Bytes(std::exchange(packet, std::string())), transport);
}

void Packer::ShipParts(AgentId to, std::string& head, const Bytes& body,
                       Transport& transport) {
  if (!relay_.IsNone()) {
    head.append(body.data(), static_cast<size_t>(body.size()));
    return Ship(to, transport, head);
  }
  Count(to, std::ssize(head) + body.size());
  transport.SendParts(to, Bytes(std::exchange(head, std::string())), body);
}

void Packer::Send(AgentId next, Bytes packet, Transport& transport) {
  Count(next, packet.size());
  transport.Send(next, std::move(packet));
}

void Packer::Count(AgentId next, int64_t bytes) {
  ++packets_sent_;
  bytes_sent_ += bytes;
  sent_[next] += bytes;
}

void Packer::SampleLinks(absl::Time now, const Transport& transport) {
  if (now < next_sample_) return;
  next_sample_ = now + kSampleInterval;
  for (const auto& [agent, bytes] : sent_) {
    link_rates_.Sample(now, agent, bytes, transport.queued_bytes(agent));
  }
}

Unpacker::Unpacker(AgentId self, const Limits& limits)
    : self_(self),
      reassembler_({.message_bytes_max = limits.message_bytes_max,
                    .held_bytes_max = limits.message_bytes_max}) {}

void Unpacker::Open(absl::Time now, const Arrival& arrival,
                    std::vector<Message>& out) {
  Bytes rest = arrival.message;
  while (!rest.empty()) {
    absl::StatusOr<Message> message = TakeMessage(rest);
    if (!message.ok()) {
      ++refused_count_;
      return;
    }
    if (message->head.target != self_ || message->head.source == self_) {
      ++misdirected_count_;
      continue;
    }
    if ((message->head.flags & Envelope::kSegmentFlag) != 0) {
      absl::StatusOr<std::optional<Bytes>> whole =
          reassembler_.Add(now, message->head.source, message->body);
      if (!whole.ok()) {
        ++refused_count_;
        continue;
      }
      if (!whole->has_value()) continue;
      message->body = std::move(**whole);
      message->head.flags &= static_cast<uint16_t>(~Envelope::kSegmentFlag);
      message->head.length = message->body.size();
    }
    // A small body must not keep a whole packet alive.
    if (message->body.size() < arrival.message.size() / 4) {
      message->body = Bytes::CopyOf(message->body.view());
    }
    out.push_back(*std::move(message));
  }
}

}  // namespace dogged

#include "routing/packing.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/base/codec.h"
#include "runtime/base/status.h"

namespace dogged {

void Packer::Flush(ViewDigest view, Outbox& outbox, Transport& transport,
                   std::vector<Message>& to_self) {
  std::vector<Outbox::Wish> wishes = std::move(outbox.wishes);
  outbox.wishes.clear();
  std::stable_sort(wishes.begin(), wishes.end(),
                   [](const auto& a, const auto& b) { return a.to < b.to; });
  std::string packet;
  view_ = view;
  for (size_t i = 0; i < wishes.size(); ++i) {
    Outbox::Wish& wish = wishes[i];
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
      to_self.push_back({head, std::move(wish.body)});
      continue;
    }
    ++messages_sent_;
    Pack(head, wish.body, transport, packet);
    if (i + 1 == wishes.size() || wishes[i + 1].to != wish.to) {
      Ship(wish.to, transport, packet);
      relay_ = AgentId();
    }
  }
}

AgentId Packer::RouteOf(const Outbox::Wish& wish) const {
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
  ++packets_sent_;
  bytes_sent_ += static_cast<int64_t>(packet.size());
  transport.Send(to, Bytes::CopyOf(packet));
  return absl::OkStatus();
}

void Packer::Pack(const Envelope& head, const Bytes& body, Transport& transport,
                  std::string& packet) {
  if (body.size() <= segment_bytes_) {
    const int64_t size = Envelope::kBytes + body.size();
    const bool alone = body.size() >= alone_bytes_;
    if (alone || static_cast<int64_t>(packet.size()) + size > segment_bytes_) {
      Ship(head.target, transport, packet);
    }
    AppendMessage(head, body.view(), {}, packet);
    if (alone) Ship(head.target, transport, packet);
    return;
  }
  Ship(head.target, transport, packet);
  Envelope segment_head = head;
  segment_head.flags |= Envelope::kSegmentFlag;
  CutIntoSegments(
      next_message_id_++, body, segment_bytes_,
      [&](const SegmentHeader& segment, const Bytes& piece) {
        Encoder encoder;
        segment.EncodeTo(encoder);
        packet.reserve(static_cast<size_t>(Envelope::kBytes + encoder.size() +
                                           piece.size()));
        AppendMessage(segment_head, encoder.view(), piece.view(), packet);
        Ship(head.target, transport, packet);
      });
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
  ++packets_sent_;
  bytes_sent_ += static_cast<int64_t>(packet.size());
  transport.Send(to, Bytes(std::exchange(packet, std::string())));
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

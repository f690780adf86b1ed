#include "routing/multicast.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/base/codec.h"

namespace dogged {
namespace {

// Origin, kind, hops, count of destinations; and the segment's own header.
constexpr int64_t kHeaderBytesMax = 8 + 1 + 1 + 10 + SegmentHeader::kBytes;

}  // namespace

// What a multicast message starts with; then the destinations (u64 each, their
// count as varint), then the segment.
struct Multicast::Header {
  AgentId origin;
  uint8_t kind = 0;
  int hops = 0;  // messages so far on the way from the origin

  void EncodeTo(Encoder& encoder) const {
    encoder.PutId(origin);
    encoder.PutU8(kind);
    encoder.PutU8(static_cast<uint8_t>(std::min(hops, 255)));
  }
  static Header DecodeFrom(Decoder& decoder) {
    Header header;
    header.origin = decoder.GetId<AgentId>();
    header.kind = decoder.GetU8();
    header.hops = decoder.GetU8();
    return header;
  }
};

absl::StatusOr<MulticastPlan> ParseMulticastPlan(absl::string_view text) {
  if (text == "prefix") return MulticastPlan::kPrefix;
  if (text == "flat") return MulticastPlan::kFlat;
  return absl::InvalidArgumentError(
      absl::StrCat("multicast plan \"", text, "\": neither prefix nor flat"));
}

Multicast::Multicast(AgentId self, MulticastPlan plan, const Limits& limits)
    : self_(self),
      plan_(plan),
      limits_(limits),
      view_(std::make_shared<const View>()),
      reassembler_({.message_bytes_max = limits.message_bytes_max,
                    .held_bytes_max = limits.message_bytes_max}) {}

void Multicast::SetView(std::shared_ptr<const View> view) {
  const bool changed = view->digest() != view_->digest();
  view_ = std::move(view);
  const Member* self = view_->Find(self_);
  if (changed && self != nullptr) {
    table_ = RoutingTable(self_, self->topology_id, *view_);
  }
}

void Multicast::Start(absl::Span<const AgentId> targets, uint8_t kind,
                      JobId job, const Bytes& body, Outbox& out) {
  std::vector<AgentId> others(targets.begin(), targets.end());
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  others.erase(std::remove(others.begin(), others.end(), self_), others.end());
  if (others.empty()) return;
  const Header header{self_, kind, 0};
  // What stands before a piece counts too, or the packer would cut again.
  const int64_t overhead =
      kHeaderBytesMax + 8 * static_cast<int64_t>(others.size());
  const int64_t segment_bytes = std::max(limits_.segment_bytes - overhead,
                                         (limits_.segment_bytes + 1) / 2);
  CutIntoSegments(next_message_id_++, body, segment_bytes,
                  [&](const SegmentHeader& segment, const Bytes& piece) {
                    Encoder encoder;
                    segment.EncodeTo(encoder);
                    encoder.PutRaw(piece.view());
                    Forward(header, others, job, encoder.view(), out);
                  });
}

void Multicast::Forward(const Header& header, std::vector<AgentId> targets,
                        JobId job, absl::string_view segment, Outbox& out) {
  const bool flat =
      plan_ == MulticastPlan::kFlat || header.hops >= limits_.hops_max;
  if (flat && plan_ != MulticastPlan::kFlat) ++hop_limit_count_;
  // Next hops in order of their IDs; the simulation replays it.
  absl::btree_map<AgentId, std::vector<AgentId>> by_hop;
  for (AgentId id : targets) {
    const Member* target = view_->Find(id);
    if (target == nullptr) {
      ++unknown_count_;
      continue;
    }
    by_hop[flat ? id : NextHop(table_, *target)].push_back(id);
  }
  Header next = header;
  ++next.hops;
  for (const auto& [hop, behind] : by_hop) {
    Encoder encoder;
    next.EncodeTo(encoder);
    encoder.PutVarint(behind.size());
    for (AgentId id : behind) encoder.PutId(id);
    encoder.PutRaw(segment);
    out.Send(hop, RoutingKind::kMulticast, job, Bytes(encoder.Take()));
  }
}

void Multicast::Receive(absl::Time now, JobId job, const Bytes& message,
                        Outbox& out, std::vector<Delivery>& deliveries) {
  Decoder decoder(message.view());
  const Header header = Header::DecodeFrom(decoder);
  const int64_t count = decoder.GetCount(8);
  std::vector<AgentId> others;
  bool for_self = false;
  for (int64_t i = 0; i < count; ++i) {
    const auto id = decoder.GetId<AgentId>();
    if (id == self_) {
      for_self = true;
    } else {
      others.push_back(id);
    }
  }
  if (!decoder.ok() || count == 0) {
    ++refused_count_;
    return;
  }
  const Bytes segment =
      message.Slice(message.size() - decoder.remaining(), decoder.remaining());
  if (!others.empty()) {
    ++forwarded_count_;
    Forward(header, std::move(others), job, segment.view(), out);
  }
  if (!for_self) return;
  absl::StatusOr<std::optional<Bytes>> whole =
      reassembler_.Add(now, header.origin, segment);
  if (!whole.ok()) {
    ++refused_count_;
  } else if (whole->has_value()) {
    deliveries.push_back({header.origin, header.kind, job, std::move(**whole)});
  }
}

}  // namespace dogged

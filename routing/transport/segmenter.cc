#include "routing/transport/segmenter.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

// Memory that even an empty piece costs.
constexpr int64_t kPieceOverhead = 64;

// Whether the piece overlaps one of those that are there.
bool Overlaps(const std::map<int64_t, int64_t>& pieces, int64_t offset,
              int64_t size) {
  const auto after = pieces.lower_bound(offset);
  if (after != pieces.end() && after->first < offset + size) return true;
  if (after == pieces.begin()) return false;
  const auto before = std::prev(after);
  return before->first + before->second > offset;
}

}  // namespace

void SegmentHeader::EncodeTo(Encoder& encoder) const {
  encoder.PutU64(message_id);
  encoder.PutU64(static_cast<uint64_t>(offset));
  encoder.PutU64(static_cast<uint64_t>(total));
}

SegmentHeader SegmentHeader::DecodeFrom(Decoder& decoder) {
  SegmentHeader header;
  header.message_id = decoder.GetU64();
  header.offset = static_cast<int64_t>(decoder.GetU64());
  header.total = static_cast<int64_t>(decoder.GetU64());
  return header;
}

absl::StatusOr<std::optional<Bytes>> Reassembler::Add(absl::Time now,
                                                      AgentId sender,
                                                      const Bytes& segment) {
  Decoder decoder(segment.view());
  const SegmentHeader header = SegmentHeader::DecodeFrom(decoder);
  const int64_t size = decoder.remaining();
  const bool sound = decoder.ok() && header.total >= 0 && header.offset >= 0 &&
                     header.total <= options_.message_bytes_max &&
                     header.offset <= header.total &&
                     size <= header.total - header.offset &&
                     (size > 0 || header.total == 0);
  if (!sound) {
    return absl::InvalidArgumentError(absl::StrCat("segment of ", size,
                                                   " bytes at ", header.offset,
                                                   " of ", header.total));
  }
  const Bytes piece = segment.Slice(SegmentHeader::kBytes, size);
  if (size == header.total) return std::optional<Bytes>(piece);

  auto it = incomplete_.try_emplace({sender, header.message_id}).first;
  PartialMessage& message = it->second;
  if (message.pieces.empty()) message.total = header.total;
  if (message.total != header.total) {
    Drop(it);
    return absl::InvalidArgumentError("segments of different totals");
  }
  message.touched = now;
  const auto known = message.pieces.find(header.offset);
  if (known != message.pieces.end() && known->second == size) {
    return std::optional<Bytes>();  // came before
  }
  if (Overlaps(message.pieces, header.offset, size)) {
    Drop(it);
    return absl::InvalidArgumentError("segments overlap");
  }
  if (!message.body.has_value()) {
    message.body = GatheredBytes::Create(header.total);
  }
  if (!message.body.has_value()) {
    Drop(it);
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a message of ", header.total, " bytes"));
  }
  (void)message.body->Put(header.offset, piece.view());
  message.pieces.emplace(header.offset, size);
  message.bytes += size;
  held_bytes_ += size + kPieceOverhead;
  if (message.bytes < message.total) {
    while (held_bytes_ > options_.held_bytes_max) DropOldest();
    return std::optional<Bytes>();
  }
  const Bytes whole = message.body->whole();
  Drop(it);
  return std::optional<Bytes>(whole);
}

Reassembler::Incomplete::iterator Reassembler::Drop(
    Incomplete::iterator message) {
  held_bytes_ -= message->second.bytes +
                 kPieceOverhead * std::ssize(message->second.pieces);
  return incomplete_.erase(message);
}

void Reassembler::DropOldest() {
  auto oldest = std::min_element(incomplete_.begin(), incomplete_.end(),
                                 [](const auto& a, const auto& b) {
                                   return a.second.touched < b.second.touched;
                                 });
  Drop(oldest);
  ++expired_count_;
}

void Reassembler::Expire(absl::Time now) {
  for (auto it = incomplete_.begin(); it != incomplete_.end();) {
    if (now - it->second.touched > options_.patience) {
      it = Drop(it);
      ++expired_count_;
    } else {
      ++it;
    }
  }
}

void Reassembler::Forget(AgentId sender) {
  auto it = incomplete_.lower_bound({sender, 0});
  while (it != incomplete_.end() && it->first.first == sender) it = Drop(it);
}

}  // namespace dogged

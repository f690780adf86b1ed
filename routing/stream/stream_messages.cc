#include "routing/stream/stream_messages.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/codec.h"
#include "runtime/base/status.h"
#include "runtime/base/wire_version.h"

namespace dogged {
namespace {

// A stream of smaller segments than this, but the last, is nobody's.
constexpr int64_t kSegmentBytesMin = 16;
constexpr int kHopsMost = 1 << 20;

void PutKey(const StreamKey& key, Encoder& encoder) {
  encoder.PutId(key.origin);
  encoder.PutU64(key.number);
}

StreamKey GetKey(Decoder& decoder) {
  StreamKey key;
  key.origin = decoder.GetId<AgentId>();
  key.number = decoder.GetU64();
  return key;
}

int64_t GetInt(Decoder& decoder) {
  return static_cast<int64_t>(
      std::min<uint64_t>(decoder.GetVarint(), INT64_MAX));
}

}  // namespace

Bytes StreamOffer::Encode() const {
  Encoder encoder;
  PutKey(key, encoder);
  encoder.PutU8(kind);
  encoder.PutU8(static_cast<uint8_t>(plan));
  encoder.PutU8(static_cast<uint8_t>(part));
  encoder.PutVarint(static_cast<uint64_t>(hops));
  encoder.PutVarint(static_cast<uint64_t>(total));
  encoder.PutVarint(static_cast<uint64_t>(segment_bytes));
  encoder.PutVarint(static_cast<uint64_t>(credit));
  encoder.PutString(tag.view());
  encoder.PutVarint(targets.size());
  for (AgentId target : targets) encoder.PutId(target);
  PutOpenEnd(encoder);
  return Bytes(encoder.Take());
}

absl::StatusOr<StreamOffer> StreamOffer::Decode(const Bytes& message,
                                                const Limits& limits) {
  Decoder decoder(message.view());
  StreamOffer offer;
  offer.key = GetKey(decoder);
  offer.kind = decoder.GetU8();
  const uint8_t plan = decoder.GetU8();
  const uint8_t part = decoder.GetU8();
  const int64_t hops = GetInt(decoder);
  offer.total = GetInt(decoder);
  offer.segment_bytes = GetInt(decoder);
  offer.credit = GetInt(decoder);
  offer.tag = Bytes::CopyOf(decoder.GetString());
  const int64_t count = decoder.GetCount(8);
  for (int64_t i = 0; i < count; ++i) {
    offer.targets.push_back(decoder.GetId<AgentId>());
  }
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(decoder, "stream offer"));
  const bool sound = !offer.key.origin.IsNone() && plan > 0 &&
                     plan < kMulticastPlanCount && part <= 2 &&
                     hops <= kHopsMost && offer.total > 0 &&
                     offer.total <= limits.message_bytes_max &&
                     offer.segment_bytes >= kSegmentBytesMin &&
                     offer.credit <= StreamOffer::kCreditMax && count > 0;
  if (!sound) {
    return absl::InvalidArgumentError(absl::StrCat(
        "stream of ", offer.total, " bytes in segments of ",
        offer.segment_bytes, " to ", count, " agents by plan ", plan));
  }
  offer.plan = static_cast<MulticastPlan>(plan);
  offer.part = static_cast<BodyPart>(part);
  offer.hops = static_cast<int>(hops);
  return offer;
}

Bytes StreamSegment::EncodeHead(const StreamKey& key, int64_t index) {
  Encoder encoder;
  PutKey(key, encoder);
  encoder.PutVarint(static_cast<uint64_t>(index));
  return Bytes(encoder.Take());
}

absl::StatusOr<StreamSegment> StreamSegment::Decode(const Bytes& message) {
  Decoder decoder(message.view());
  StreamSegment segment;
  segment.key = GetKey(decoder);
  segment.index = GetInt(decoder);
  DOGGED_RETURN_IF_ERROR(decoder.status("stream segment"));
  segment.piece =
      message.Slice(message.size() - decoder.remaining(), decoder.remaining());
  return segment;
}

Bytes StreamPull::Encode() const {
  Encoder encoder;
  PutKey(key, encoder);
  encoder.PutVarint(static_cast<uint64_t>(have));
  encoder.PutVarint(static_cast<uint64_t>(limit));
  encoder.PutBool(done);
  encoder.PutVarint(missing.size());
  for (int64_t index : missing) {
    encoder.PutVarint(static_cast<uint64_t>(index));
  }
  PutOpenEnd(encoder);
  return Bytes(encoder.Take());
}

absl::StatusOr<StreamPull> StreamPull::Decode(const Bytes& message) {
  Decoder decoder(message.view());
  StreamPull pull;
  pull.key = GetKey(decoder);
  pull.have = GetInt(decoder);
  pull.limit = GetInt(decoder);
  pull.done = decoder.GetBool();
  const int64_t count = decoder.GetCount();
  for (int64_t i = 0; i < count; ++i) pull.missing.push_back(GetInt(decoder));
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(decoder, "stream pull"));
  if (count > kMissingMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("pull of ", count, " missing segments"));
  }
  return pull;
}

}  // namespace dogged

#include "routing/membership/gossip_codec.h"

#include <algorithm>

#include "runtime/base/hash.h"

namespace dogged {
namespace {

constexpr size_t kCauseBytesMax = 200;
// The shortest forms: state, ID, empty cause; empty key, version, no bytes.
constexpr int64_t kFactBytesMin = 10;
constexpr int64_t kRecordBytesMin = 3;
constexpr int64_t kIdBytes = 8;

}  // namespace

void MemberFact::EncodeTo(Encoder& encoder) const {
  encoder.PutU8(static_cast<uint8_t>(state));
  if (state == MemberState::kAlive) {
    member.EncodeTo(encoder);
  } else {
    encoder.PutId(id);
    encoder.PutString(absl::string_view(cause).substr(0, kCauseBytesMax));
  }
  if (state != MemberState::kDead) {
    encoder.PutVarint(blob_version);
    encoder.PutString(blob.view());
    encoder.PutVarint(unheard.size());
    for (const AgentId other : unheard) encoder.PutId(other);
  }
}

bool MemberFact::Hears(AgentId other) const {
  return !std::binary_search(unheard.begin(), unheard.end(), other);
}

MemberFact MemberFact::DecodeFrom(Decoder& decoder) {
  MemberFact fact;
  const uint8_t state = decoder.GetU8();
  if (state > static_cast<uint8_t>(MemberState::kDead)) decoder.Fail();
  fact.state = static_cast<MemberState>(state);
  if (fact.state == MemberState::kAlive) {
    fact.member = Member::DecodeFrom(decoder);
    fact.id = fact.member.id;
  } else {
    fact.id = decoder.GetId<AgentId>();
    fact.cause = std::string(decoder.GetString().substr(0, kCauseBytesMax));
  }
  if (fact.state != MemberState::kDead) {
    fact.blob_version = decoder.GetVarint();
    fact.blob = Bytes::CopyOf(decoder.GetString());
    const int64_t count = decoder.GetCount(kIdBytes);
    for (int64_t i = 0; i < count && decoder.ok(); ++i) {
      fact.unheard.push_back(decoder.GetId<AgentId>());
    }
    if (!std::is_sorted(fact.unheard.begin(), fact.unheard.end())) {
      decoder.Fail();
    }
  }
  if (fact.id.IsNone()) decoder.Fail();
  return fact;
}

uint64_t GossipRecord::HashAt(absl::string_view key) const {
  return Mix64(Hash64(key), Hash64(bytes.view(), version));
}

void GossipNews::EncodeTo(Encoder& encoder) const {
  encoder.PutVarint(facts.size());
  for (const MemberFact& fact : facts) fact.EncodeTo(encoder);
  encoder.PutVarint(records.size());
  for (const auto& [key, record] : records) {
    encoder.PutString(key);
    encoder.PutVarint(record.version);
    encoder.PutString(record.bytes.view());
  }
}

GossipNews GossipNews::DecodeFrom(Decoder& decoder) {
  GossipNews news;
  const int64_t fact_count = decoder.GetCount(kFactBytesMin);
  for (int64_t i = 0; i < fact_count && decoder.ok(); ++i) {
    news.facts.push_back(MemberFact::DecodeFrom(decoder));
  }
  const int64_t record_count = decoder.GetCount(kRecordBytesMin);
  for (int64_t i = 0; i < record_count && decoder.ok(); ++i) {
    std::string key(decoder.GetString());
    GossipRecord record;
    record.version = decoder.GetVarint();
    record.bytes = Bytes::CopyOf(decoder.GetString());
    news.records.emplace_back(std::move(key), std::move(record));
  }
  return news;
}

}  // namespace dogged

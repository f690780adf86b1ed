// The facts that membership gossips, and their wire form.
#ifndef DOGGED_ROUTING_MEMBERSHIP_GOSSIP_CODEC_H_
#define DOGGED_ROUTING_MEMBERSHIP_GOSSIP_CODEC_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "routing/membership/view.h"
#include "runtime/base/bytes.h"
#include "runtime/base/codec.h"
#include "runtime/base/ids.h"

namespace dogged {

// Only ever grows.
enum class MemberState : uint8_t { kAlive = 0, kLeft = 1, kDead = 2 };

// MemberFact: an agent's state as it is gossiped, with all of `member` while
// the agent is alive and the cause afterwards. The agent itself fills `blob`,
// whose last value stays when it leaves, and `unheard`: the live agents from
// which nothing reaches it directly.
struct MemberFact {
  AgentId id;
  MemberState state = MemberState::kAlive;
  Member member;
  std::string cause;
  uint64_t blob_version = 0;  // of `blob` and `unheard`
  Bytes blob;
  std::vector<AgentId> unheard;  // in ascending order

  void EncodeTo(Encoder& encoder) const;
  // A malformed fact marks the decoder as failed.
  static MemberFact DecodeFrom(Decoder& decoder);
  bool Hears(AgentId other) const;
};

// Opaque here. The larger (version, bytes) wins.
struct GossipRecord {
  uint64_t version = 0;
  Bytes bytes;

  // The same in every process.
  uint64_t HashAt(absl::string_view key) const;
};

// A set of facts as it travels.
struct GossipNews {
  std::vector<MemberFact> facts;
  std::vector<std::pair<std::string, GossipRecord>> records;

  bool empty() const { return facts.empty() && records.empty(); }
  void EncodeTo(Encoder& encoder) const;
  static GossipNews DecodeFrom(Decoder& decoder);
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMBERSHIP_GOSSIP_CODEC_H_

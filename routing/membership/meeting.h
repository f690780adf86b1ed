// Meeting: what two agents tell each other as they meet over the control port,
// and which of two sides gives way (see membership.h). Plain data.
#ifndef DOGGED_ROUTING_MEMBERSHIP_MEETING_H_
#define DOGGED_ROUTING_MEMBERSHIP_MEETING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "routing/membership/gossip_codec.h"
#include "routing/membership/view.h"
#include "runtime/base/codec.h"
#include "runtime/base/ids.h"

namespace dogged {

// How a meeting ends for the side that was asked: the first byte of its answer.
enum class Meeting : uint8_t { kMerged = 0, kTheyGiveWay = 1, kWeGiveWay = 2 };

// Facts of an agent as it tells them in a meeting.
struct MeetingSnapshot {
  AgentId from;
  ViewDigest view;
  GossipNews news;   // facts of members, and records
  GossipNews named;  // candidates
  // The sender dials an address that a member once had, so another process may
  // have it now: only kin is to answer, an agent that has heard of one of these
  // or of those in `news`. `kin` are of former incarnations of the sender.
  bool is_for_kin = false;
  std::vector<AgentId> kin;

  void EncodeTo(Encoder& encoder) const;
  // A malformed snapshot marks the decoder as failed.
  static MeetingSnapshot DecodeFrom(Decoder& decoder);

  // One of the agents that the sender has heard of is in `known`.
  bool IsKin(absl::FunctionRef<bool(AgentId)> known) const;
  // Null if it does not say.
  const MemberFact* FactOf(AgentId id) const;
  const Member* Sender() const;
  // Its side is larger than `ours`, or has the larger digest, and goes on where
  // the two can't become one.
  bool Outweighs(const View& ours) const;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMBERSHIP_MEETING_H_

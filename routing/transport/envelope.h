// Envelope: the header of every message, 56 bytes, fixed layout,
// little-endian. A transport message is one or more (envelope, body) pairs,
// one after the other. Everything that comes from outside is parsed here, and
// refused here if it is not ours.
#ifndef DOGGED_ROUTING_TRANSPORT_ENVELOPE_H_
#define DOGGED_ROUTING_TRANSPORT_ENVELOPE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"

namespace dogged {

// Kinds that routing reads itself; all from kFirstFreeKind on are opaque to it.
enum class RoutingKind : uint8_t {
  kNone = 0,
  kGossip = 1,
  kGossipDigest = 2,
  kPing = 3,
  kPingAck = 4,
  kPingRequest = 5,
  kMulticast = 6,
  kStreamOffer = 7,
  kStreamSegment = 8,
  kStreamPull = 9,
  kReconcile = 10,
  kRelay = 11,  // for another agent, which the sender does not reach itself
};
inline constexpr uint8_t kFirstFreeKind = 16;

struct Envelope {
  static constexpr int64_t kBytes = 56;
  // The body is a segment of a longer one and starts with a SegmentHeader.
  static constexpr uint16_t kSegmentFlag = 1;
  // The message came by way of a third agent, so it tells nothing about the
  // direct link.
  static constexpr uint16_t kRelayedFlag = 2;

  uint8_t kind = 0;
  uint16_t flags = 0;
  AgentId source;   // the incarnation that sent it
  AgentId target;   // the incarnation that it is for
  ViewDigest view;  // the sender's view
  JobId job;
  int64_t length = 0;  // of the body, bytes
};

struct Message {
  Envelope head;
  Bytes body;
};

// Appends the envelope and the body, given as two pieces, to `out`.
// `head.length` is set from the pieces; the checksum covers all of it.
void AppendMessage(const Envelope& head, absl::string_view first_piece,
                   absl::string_view rest, std::string& out);
// The same without `rest`, which belongs behind it.
void AppendHead(Envelope head, absl::string_view first_piece,
                absl::string_view rest, std::string& out);

// Takes the first message off `bytes`; its body shares their buffer.
//
// Errors: kInvalidArgument for bytes of another program or version, a length
//         that does not fit, a wrong checksum. `bytes` is then empty: after
//         one bad message nothing that follows can be believed.
absl::StatusOr<Message> TakeMessage(Bytes& bytes);

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRANSPORT_ENVELOPE_H_

// Messages of streams (stream.h): offers, segments, pulls.
#ifndef DOGGED_ROUTING_STREAM_STREAM_MESSAGES_H_
#define DOGGED_ROUTING_STREAM_STREAM_MESSAGES_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "routing/plans/planner.h"
#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"
#include "runtime/base/limits.h"

namespace dogged {

// Names one stream: where it started, and the number it has there.
struct StreamKey {
  AgentId origin;
  uint64_t number = 0;
  friend auto operator<=>(const StreamKey&, const StreamKey&) = default;
};

// The part of a body that a stream carries. The halves of one body are streams
// of the same origin, the second with the number after that of the first. On
// the wire.
enum class BodyPart : uint8_t { kWhole = 0, kFirst = 1, kSecond = 2 };

// "A body comes this way, for you or for those behind you."
struct StreamOffer {
  static constexpr int64_t kCreditMax = 1 << 16;
  StreamKey key;
  uint8_t kind = 0;  // of the body
  MulticastPlan plan = MulticastPlan::kFlat;
  BodyPart part = BodyPart::kWhole;
  int hops = 0;  // from the origin to the receiver of this
  int64_t total = 0;
  int64_t segment_bytes = 0;
  int64_t credit = 0;  // segments that the sender sends unasked
  Bytes tag;           // names the body; empty: everybody wants it
  std::vector<AgentId> targets;

  Bytes Encode() const;
  // Errors: kInvalidArgument for a body that contradicts itself or the limits.
  static absl::StatusOr<StreamOffer> Decode(const Bytes& message,
                                            const Limits& limits);
};

struct StreamSegment {
  StreamKey key;
  int64_t index = 0;
  Bytes piece;

  // All that goes before the piece.
  static Bytes EncodeHead(const StreamKey& key, int64_t index);
  static absl::StatusOr<StreamSegment> Decode(const Bytes& message);
};

// "Up to `have` I have all; send up to `limit`, and those missing again."
struct StreamPull {
  static constexpr int64_t kMissingMax = 256;
  StreamKey key;
  int64_t have = 0;
  int64_t limit = 0;
  bool done = false;  // "send nothing more"
  std::vector<int64_t> missing;

  Bytes Encode() const;
  static absl::StatusOr<StreamPull> Decode(const Bytes& message);
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_STREAM_STREAM_MESSAGES_H_

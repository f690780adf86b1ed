// Reassembler: joins the segments that a packer has cut a long body into.
// Segments may come doubled, in any order, or not at all; partial messages
// expire.
#ifndef DOGGED_ROUTING_TRANSPORT_SEGMENTER_H_
#define DOGGED_ROUTING_TRANSPORT_SEGMENTER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "routing/transport/gathered_bytes.h"
#include "runtime/base/bytes.h"
#include "runtime/base/codec.h"
#include "runtime/base/ids.h"

namespace dogged {

// Leads every segment. `message_id` is unique for its sender.
struct SegmentHeader {
  static constexpr int64_t kBytes = 24;
  uint64_t message_id = 0;
  int64_t offset = 0;
  int64_t total = 0;  // bytes of the whole body

  void EncodeTo(Encoder& encoder) const;
  static SegmentHeader DecodeFrom(Decoder& decoder);
};

class Reassembler {
 public:
  struct Options {
    int64_t message_bytes_max = 1LL << 32;
    // Bytes held in incomplete messages; beyond it the oldest are dropped.
    int64_t held_bytes_max = 1LL << 30;
    // An incomplete message that got nothing new for so long is dropped.
    absl::Duration patience = absl::Seconds(30);
  };
  explicit Reassembler(Options options) : options_(options) {}

  // Takes a segment (header, then piece); gives the whole body once complete.
  //
  // Cost:   one copy of the body; beyond a bound, memory only for bytes that
  //         really came (GatheredBytes).
  // Errors: kResourceExhausted without memory for the whole body.
  //         kInvalidArgument for a segment that contradicts itself or earlier
  //         ones (then the whole message is forgotten).
  absl::StatusOr<std::optional<Bytes>> Add(absl::Time now, AgentId sender,
                                           const Bytes& segment);

  // Drops incomplete messages that have waited too long.
  void Expire(absl::Time now);
  // Drops incomplete messages of `sender`.
  void Forget(AgentId sender);

  int64_t held_bytes() const { return held_bytes_; }
  int64_t held_count() const { return std::ssize(incomplete_); }
  // Messages dropped incomplete.
  int64_t expired_count() const { return expired_count_; }

 private:
  using Key = std::pair<AgentId, uint64_t>;
  struct PartialMessage {
    int64_t total = 0;
    int64_t bytes = 0;
    absl::Time touched;
    std::map<int64_t, int64_t> pieces;  // their bytes, by offset
    std::optional<GatheredBytes> body;
  };
  using Incomplete = std::map<Key, PartialMessage>;

  Incomplete::iterator Drop(Incomplete::iterator message);
  void DropOldest();

  Options options_;
  Incomplete incomplete_;
  int64_t held_bytes_ = 0;
  int64_t expired_count_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRANSPORT_SEGMENTER_H_

// Every bound in the system, with its unit. Plain data; the simulation draws
// small ones to reach rare paths.
#ifndef DOGGED_RUNTIME_BASE_LIMITS_H_
#define DOGGED_RUNTIME_BASE_LIMITS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace dogged {

struct Limits {
  // A message body longer than this, or than the way to its agent takes,
  // travels in segments. The fabric keeps address space of this size for each
  // peer.
  int64_t segment_bytes = 1 << 20;
  // Short messages to one agent share a packet of up to this.
  int64_t packet_bytes_max = 32 * 1024;
  // Bytes that may wait to be sent to one neighbour. The rest of a longer
  // message waits in the Packer until there is room.
  int64_t outbox_bytes_max = 64 << 20;
  // The value of a job travels in parts of this size, so many at a time.
  int64_t job_part_bytes = 256 << 10;
  int job_parts_at_once = 8;
  // Bytes of input chunks: asked for at other agents and the client; waited for
  // by tasks before more of these start; held ahead of the tasks that read
  // them; and cached for later readers, beside chunks that the agent keeps for
  // others.
  int64_t input_window_bytes = 8 << 20;
  int64_t input_supply_bytes = 32 << 20;
  int64_t input_ahead_bytes = 64 << 20;
  int64_t input_cache_bytes = 256 << 20;
  // A job ends if no agent has had the chunks that its tasks wait for, for so
  // long.
  absl::Duration input_patience = absl::Seconds(30);
  // The longest message that a receiver assembles.
  int64_t message_bytes_max = 1LL << 32;
  // A message of this size or more shares a packet with no other.
  int64_t alone_bytes = 1024;
  // A body longer than this goes to several agents as a stream of segments.
  int64_t stream_bytes_min = 2048;
  // The size of those segments; 0: chosen by body and plan, up to the latter.
  int64_t multicast_segment_bytes = 0;
  int64_t multicast_segment_bytes_max = 256 * 1024;
  // Bytes that may be on their way from one agent of a stream to the next.
  int64_t stream_window_bytes = 64 * 1024;
  // Nothing heard for so long: offer, or ask, again; then twice that.
  absl::Duration stream_retry = absl::Milliseconds(250);
  // After such a silence a stream is forgotten.
  absl::Duration stream_patience = absl::Seconds(30);
  // Forwarding steps of a multicast before it falls back to direct sends.
  int hops_max = 16;
  // A job whose numeric class no live agent has fails after this time.
  absl::Duration class_wait = absl::Seconds(30);
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_LIMITS_H_

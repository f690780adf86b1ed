// Every bound in the system, with its unit. Plain data; the simulation draws
// small ones to reach rare paths.
#ifndef DOGGED_RUNTIME_BASE_LIMITS_H_
#define DOGGED_RUNTIME_BASE_LIMITS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace dogged {

struct Limits {
  // A message body longer than this travels in segments of this many bytes.
  // The fabric keeps some 2000 buffers of this size.
  int64_t segment_bytes = 32 * 1024;
  // Bytes that may wait to be sent to one neighbour.
  int64_t outbox_bytes_max = 64 << 20;
  // The longest message that a receiver assembles.
  int64_t message_bytes_max = 1LL << 32;
  // Forwarding steps of a multicast before it falls back to direct sends.
  int hops_max = 16;
  // A job whose numeric class no live agent has fails after this time.
  absl::Duration class_wait = absl::Seconds(30);
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_LIMITS_H_

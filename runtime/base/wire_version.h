// WireRange: the versions of the wire that a program speaks. The wire is all
// that two processes of dogged send one another: frames of the control port,
// messages of the fabric, and the job value (docs/WIRE.md, which also says how
// to change it).
//
// Two programs speak the newest version that both know. A release knows its own
// version and the one before, so agents are replaced one by one while they run.
#ifndef DOGGED_RUNTIME_BASE_WIRE_VERSION_H_
#define DOGGED_RUNTIME_BASE_WIRE_VERSION_H_

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/codec.h"

namespace dogged {

struct WireRange {
  static constexpr int kVersionMax = 1 << 20;

  int oldest = 1;
  int newest = 1;

  // Not so where the two are too far apart to work together.
  bool Overlaps(const WireRange& other) const {
    return std::max(oldest, other.oldest) <= std::min(newest, other.newest);
  }
  // Versions that both speak; its `newest` is what they say to one another.
  WireRange Common(const WireRange& other) const {
    return {.oldest = std::max(oldest, other.oldest),
            .newest = std::min(newest, other.newest)};
  }
  // "1", or "1 to 2".
  std::string ToString() const;

  // Two varints.
  void EncodeTo(Encoder& encoder) const;
  // An empty range, or one beyond kVersionMax, marks the decoder as failed.
  static WireRange DecodeFrom(Decoder& decoder);
  friend bool operator==(const WireRange&, const WireRange&) = default;
};

// WireHello: the first frame of either end of a connection. Its fields stay as
// they are for ever, so that any two programs understand each other so far.
struct WireHello {
  static constexpr size_t kReleaseBytesMax = 40;

  WireRange range;      // an end that says no hello speaks version 1
  std::string release;  // for people; empty: not told

  static WireHello Here();
  std::string Encode() const;
  // Bytes behind these fields are a later program's and are skipped.
  static absl::StatusOr<WireHello> Decode(absl::string_view body);
};

// The end of a message that may gain fields, as it is written and read: bytes
// that stand there are fields of a later version, and are skipped.
void PutOpenEnd(Encoder& encoder);
// Errors: as Decoder::status().
absl::Status TakeOpenEnd(const Decoder& decoder, absl::string_view what);

// Errors: kUnimplemented if this program and the one at `address` have no
// version in common, with both ranges and the way out.
absl::Status CheckWire(const WireHello& theirs, absl::string_view address);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_WIRE_VERSION_H_

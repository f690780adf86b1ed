// The header of a frame on the control port; see control_socket.h.
#ifndef DOGGED_ROUTING_CONTROL_CONTROL_FRAME_H_
#define DOGGED_ROUTING_CONTROL_CONTROL_FRAME_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "routing/control/control_socket.h"
#include "runtime/base/codec.h"
#include "runtime/base/hash.h"
#include "runtime/base/wire_version.h"

namespace dogged {

inline constexpr int64_t kFrameHeaderBytes = 13;
// The type of a WireHello. The header and this type stay as they are in all
// versions of the wire.
inline constexpr uint8_t kHelloType = 255;

struct FrameHeader {
  static constexpr absl::string_view kMagic{"dgd2", 4};

  uint8_t type = 0;
  int64_t body_bytes = 0;
  uint32_t checksum = 0;
  bool is_partial = false;  // more bytes are needed to know

  // With its checksum.
  static std::string Encode(uint8_t type, absl::string_view body) {
    Encoder encoder;
    encoder.PutRaw(kMagic);
    encoder.PutU32(static_cast<uint32_t>(body.size()));
    encoder.PutU8(type);
    encoder.PutU32(ChecksumOf(type, body));
    return encoder.Take();
  }
  // The checksum covers all fields but the magic.
  static uint32_t ChecksumOf(uint8_t type, absl::string_view body) {
    return static_cast<uint32_t>(
        Hash64(body, Mix64(type, static_cast<uint64_t>(body.size()))));
  }
  // Errors: kInvalidArgument if the body differs from the one sent.
  absl::Status Check(absl::string_view body) const {
    if (ChecksumOf(type, body) == checksum) return absl::OkStatus();
    return absl::InvalidArgumentError("a frame with a wrong checksum");
  }

  // A whole frame with the hello of this program.
  static std::string EncodeHello() {
    const std::string body = WireHello::Here().Encode();
    return absl::StrCat(Encode(kHelloType, body), body);
  }
  // Errors: kInvalidArgument as soon as the bytes can be no frame.
  static absl::StatusOr<FrameHeader> Decode(absl::string_view bytes) {
    FrameHeader header;
    if (bytes.substr(0, kMagic.size()) !=
        kMagic.substr(0, std::min(bytes.size(), kMagic.size()))) {
      return absl::InvalidArgumentError("not a frame of dogged");
    }
    if (bytes.size() < kFrameHeaderBytes) {
      header.is_partial = true;
      return header;
    }
    Decoder decoder(bytes.substr(kMagic.size()));
    header.body_bytes = decoder.GetU32();
    header.type = decoder.GetU8();
    header.checksum = decoder.GetU32();
    if (header.body_bytes > kControlFrameBytesMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("frame of ", header.body_bytes, " bytes; ",
                       kControlFrameBytesMax, " are possible"));
    }
    return header;
  }
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_CONTROL_FRAME_H_

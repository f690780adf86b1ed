// The header of a frame on the control port; see control_socket.h.
#ifndef DOGGED_ROUTING_CONTROL_FRAME_H_
#define DOGGED_ROUTING_CONTROL_FRAME_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "routing/control_socket.h"
#include "runtime/base/codec.h"

namespace dogged {

inline constexpr int64_t kFrameHeaderBytes = 9;

struct FrameHeader {
  static constexpr absl::string_view kMagic{"dgd1", 4};

  uint8_t type = 0;
  int64_t body_bytes = 0;
  bool is_partial = false;  // more bytes are needed to know

  std::string Encode() const {
    Encoder encoder;
    encoder.PutRaw(kMagic);
    encoder.PutU32(static_cast<uint32_t>(body_bytes));
    encoder.PutU8(type);
    return encoder.Take();
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
    if (header.body_bytes > kControlFrameBytesMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("frame of ", header.body_bytes, " bytes; ",
                       kControlFrameBytesMax, " are possible"));
    }
    return header;
  }
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_FRAME_H_

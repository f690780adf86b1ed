// WireMode: what protects messages between hosts.
#ifndef DOGGED_ROUTING_TRUST_WIRE_MODE_H_
#define DOGGED_ROUTING_TRUST_WIRE_MODE_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace dogged {

enum class WireMode : uint8_t {
  kPlain = 0,   // nothing: a checksum against accidents alone
  kSigned = 1,  // nobody outside can forge or repeat; anybody can read
  kSealed = 2,  // nor read
};

inline absl::string_view WireModeText(WireMode mode) {
  switch (mode) {
    case WireMode::kPlain:
      return "plain";
    case WireMode::kSigned:
      return "signed";
    case WireMode::kSealed:
      return "sealed";
  }
  return "?";
}

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRUST_WIRE_MODE_H_

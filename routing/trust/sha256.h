// SHA-256, for contents that somebody vouches for by their digest: unlike the
// hashes of runtime/base/hash.h nobody can make another content for one.
#ifndef DOGGED_ROUTING_TRUST_SHA256_H_
#define DOGGED_ROUTING_TRUST_SHA256_H_

#include <string>

#include "absl/strings/string_view.h"

namespace dogged {

// 64 hex digits, as sha256sum prints them.
std::string Sha256Hex(absl::string_view bytes);

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRUST_SHA256_H_

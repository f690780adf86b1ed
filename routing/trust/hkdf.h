// HKDF-SHA256 (RFC 5869): keys from secrets.
#ifndef DOGGED_ROUTING_TRUST_HKDF_H_
#define DOGGED_ROUTING_TRUST_HKDF_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace dogged {

// `bytes` bytes, from 1 to 8160, for the use that `info` names. `salt` may be
// empty; to predict a byte takes `secret` and `salt`.
std::string Hkdf(absl::string_view salt, absl::string_view secret,
                 absl::string_view info, size_t bytes);

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRUST_HKDF_H_

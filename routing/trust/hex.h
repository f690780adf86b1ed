// Bytes from hex digits. Abseil's function for it is another one in each of the
// releases that Debian 12 and 13 have.
#ifndef DOGGED_ROUTING_TRUST_HEX_H_
#define DOGGED_ROUTING_TRUST_HEX_H_

#include <string>

#include "absl/strings/string_view.h"

namespace dogged {

// 0 to 15; `digit` must be a hex digit, of either case.
int DigitOfHex(char digit);

// Empty if `hex` is anything else than pairs of hex digits.
std::string BytesOfHex(absl::string_view hex);

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRUST_HEX_H_

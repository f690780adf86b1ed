#include "routing/trust/hex.h"

#include "absl/strings/ascii.h"

namespace dogged {

int DigitOfHex(char digit) {
  return absl::ascii_isdigit(digit) ? digit - '0'
                                    : absl::ascii_tolower(digit) - 'a' + 10;
}

std::string BytesOfHex(absl::string_view hex) {
  if (hex.size() % 2 != 0) return "";
  std::string out;
  for (size_t i = 0; i < hex.size(); i += 2) {
    if (!absl::ascii_isxdigit(hex[i]) || !absl::ascii_isxdigit(hex[i + 1])) {
      return "";
    }
    out.push_back(
        static_cast<char>(16 * DigitOfHex(hex[i]) + DigitOfHex(hex[i + 1])));
  }
  return out;
}

}  // namespace dogged

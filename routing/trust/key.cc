#include "routing/trust/key.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "routing/trust/hex.h"
#include "routing/trust/hkdf.h"
#include "routing/trust/sha256.h"

namespace dogged {
namespace {

std::string IdOf(const std::array<uint8_t, Key::kBytes>& bytes) {
  return Sha256Hex(
             absl::string_view(reinterpret_cast<const char*>(bytes.data()),
                               bytes.size()))
      .substr(0, Key::kIdDigits);
}

}  // namespace

Key::Key(const std::array<uint8_t, kBytes>& bytes)
    : bytes_(bytes), id_(IdOf(bytes)) {}

Key::~Key() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

absl::StatusOr<Key> Key::Make() {
  std::array<uint8_t, kBytes> bytes;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return absl::UnavailableError("the system has no randomness for a key");
  }
  const Key key(bytes);
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return key;
}

absl::StatusOr<Key> Key::Parse(absl::string_view hex) {
  if (hex.size() != 2 * kBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a key has ", 2 * kBytes, " hex digits, not ", hex.size()));
  }
  std::array<uint8_t, kBytes> bytes;
  for (size_t i = 0; i < kBytes; ++i) {
    const char high = hex[2 * i];
    const char low = hex[2 * i + 1];
    if (!absl::ascii_isxdigit(high) || !absl::ascii_isxdigit(low)) {
      return absl::InvalidArgumentError("a key has hex digits alone");
    }
    bytes[i] = static_cast<uint8_t>(16 * DigitOfHex(high) + DigitOfHex(low));
  }
  const Key key(bytes);
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return key;
}

std::string Key::ToHex() const {
  return absl::BytesToHexString(absl::string_view(
      reinterpret_cast<const char*>(bytes_.data()), bytes_.size()));
}

std::string Key::Derive(absl::string_view label, size_t bytes) const {
  return Hkdf("",
              absl::string_view(reinterpret_cast<const char*>(bytes_.data()),
                                bytes_.size()),
              label, bytes);
}

bool operator==(const Key& a, const Key& b) {
  return CRYPTO_memcmp(a.bytes_.data(), b.bytes_.data(), Key::kBytes) == 0;
}

void Wipe(std::string& secret) {
  OPENSSL_cleanse(secret.data(), secret.size());
  secret.clear();
}

}  // namespace dogged

#include "routing/trust/key.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "routing/trust/sha256.h"
#include "runtime/base/check.h"

namespace dogged {
namespace {

std::string IdOf(const std::array<uint8_t, Key::kBytes>& bytes) {
  return Sha256Hex(
             absl::string_view(reinterpret_cast<const char*>(bytes.data()),
                               bytes.size()))
      .substr(0, Key::kIdDigits);
}

int DigitOf(char digit) {
  return absl::ascii_isdigit(digit) ? digit - '0'
                                    : absl::ascii_tolower(digit) - 'a' + 10;
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
    bytes[i] = static_cast<uint8_t>(16 * DigitOf(high) + DigitOf(low));
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
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kdf(
      EVP_KDF_fetch(nullptr, "HKDF", nullptr), &EVP_KDF_free);
  DOGGED_CHECK(kdf != nullptr) << "no HKDF in this OpenSSL";
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context(
      EVP_KDF_CTX_new(kdf.get()), &EVP_KDF_CTX_free);
  std::string digest = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY,
                                        const_cast<uint8_t*>(bytes_.data()),
                                        bytes_.size()),
      OSSL_PARAM_construct_octet_string(
          OSSL_KDF_PARAM_INFO, const_cast<char*>(label.data()), label.size()),
      OSSL_PARAM_construct_end()};
  std::string out(bytes, '\0');
  DOGGED_CHECK(EVP_KDF_derive(context.get(),
                              reinterpret_cast<unsigned char*>(out.data()),
                              out.size(), parameters) == 1)
      << "HKDF of " << bytes << " bytes";
  return out;
}

bool operator==(const Key& a, const Key& b) {
  return CRYPTO_memcmp(a.bytes_.data(), b.bytes_.data(), Key::kBytes) == 0;
}

void Wipe(std::string& secret) {
  OPENSSL_cleanse(secret.data(), secret.size());
  secret.clear();
}

}  // namespace dogged

#include "routing/trust/exchange_key.h"

#include <openssl/evp.h>

#include "runtime/base/check.h"

namespace dogged {

void ExchangeKey::Free::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }

ExchangeKey::ExchangeKey()
    : key_(EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519")),
      public_half_(kBytes, '\0') {
  DOGGED_CHECK(key_ != nullptr) << "no X25519 in this OpenSSL";
  size_t size = kBytes;
  DOGGED_CHECK(EVP_PKEY_get_raw_public_key(
                   key_.get(),
                   reinterpret_cast<unsigned char*>(public_half_.data()),
                   &size) == 1 &&
               size == kBytes);
}

std::optional<std::string> ExchangeKey::SecretWith(
    absl::string_view their_half) const {
  if (their_half.size() != kBytes) return std::nullopt;
  const std::unique_ptr<EVP_PKEY, Free> theirs(EVP_PKEY_new_raw_public_key(
      EVP_PKEY_X25519, nullptr,
      reinterpret_cast<const unsigned char*>(their_half.data()), kBytes));
  const std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> context(
      EVP_PKEY_CTX_new(key_.get(), nullptr), &EVP_PKEY_CTX_free);
  std::string secret(kBytes, '\0');
  size_t size = kBytes;
  // X25519 fails where the secret would be zero.
  if (theirs == nullptr || context == nullptr ||
      EVP_PKEY_derive_init(context.get()) != 1 ||
      EVP_PKEY_derive_set_peer(context.get(), theirs.get()) != 1 ||
      EVP_PKEY_derive(context.get(),
                      reinterpret_cast<unsigned char*>(secret.data()),
                      &size) != 1 ||
      size != kBytes) {
    return std::nullopt;
  }
  return secret;
}

}  // namespace dogged

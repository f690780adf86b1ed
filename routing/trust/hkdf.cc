#include "routing/trust/hkdf.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <memory>

#include "runtime/base/check.h"

namespace dogged {
namespace {

OSSL_PARAM Octets(const char* name, absl::string_view bytes) {
  return OSSL_PARAM_construct_octet_string(
      name, const_cast<char*>(bytes.data()), bytes.size());
}

}  // namespace

std::string Hkdf(absl::string_view salt, absl::string_view secret,
                 absl::string_view info, size_t bytes) {
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kdf(
      EVP_KDF_fetch(nullptr, "HKDF", nullptr), &EVP_KDF_free);
  DOGGED_CHECK(kdf != nullptr) << "no HKDF in this OpenSSL";
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context(
      EVP_KDF_CTX_new(kdf.get()), &EVP_KDF_CTX_free);
  std::string digest = "SHA256";
  OSSL_PARAM parameters[5] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      Octets(OSSL_KDF_PARAM_KEY, secret), Octets(OSSL_KDF_PARAM_INFO, info),
      OSSL_PARAM_construct_end(), OSSL_PARAM_construct_end()};
  if (!salt.empty()) parameters[3] = Octets(OSSL_KDF_PARAM_SALT, salt);
  std::string out(bytes, '\0');
  DOGGED_CHECK(EVP_KDF_derive(context.get(),
                              reinterpret_cast<unsigned char*>(out.data()),
                              out.size(), parameters) == 1)
      << "HKDF of " << bytes << " bytes";
  return out;
}

}  // namespace dogged

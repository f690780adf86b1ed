#include "routing/trust/aead.h"

#include <openssl/evp.h>

#include <array>
#include <cstring>

#include "runtime/base/check.h"

namespace dogged {
namespace {

const unsigned char* In(absl::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* Out(char* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

}  // namespace

Aead::Cipher Aead::Fastest() {
#if defined(__x86_64__)
  const bool has_aes = __builtin_cpu_supports("aes") != 0;
#elif defined(__ARM_FEATURE_AES)
  const bool has_aes = true;
#else
  const bool has_aes = false;
#endif
  return has_aes ? Cipher::kAes256Gcm : Cipher::kChaCha20Poly1305;
}

void Aead::Free::operator()(EVP_CIPHER_CTX* context) const {
  EVP_CIPHER_CTX_free(context);
}

Aead::Aead(Cipher cipher, absl::string_view key, Use use)
    : context_(EVP_CIPHER_CTX_new()) {
  DOGGED_CHECK(context_ != nullptr && key.size() == kKeyBytes);
  const EVP_CIPHER* const type = cipher == Cipher::kAes256Gcm
                                     ? EVP_aes_256_gcm()
                                     : EVP_chacha20_poly1305();
  DOGGED_CHECK(EVP_CipherInit_ex(context_.get(), type, nullptr, In(key),
                                 nullptr, use == Use::kSeal ? 1 : 0) == 1);
}

void Aead::Start(uint64_t counter, Parts associated) {
  // 96 bits, of which the first are zero: a key serves one direction.
  std::array<unsigned char, 12> nonce{};
  std::memcpy(nonce.data() + 4, &counter, sizeof(counter));
  DOGGED_CHECK(EVP_CipherInit_ex(context_.get(), nullptr, nullptr, nullptr,
                                 nonce.data(), -1) == 1);
  int size = 0;
  for (const absl::string_view part : associated) {
    if (part.empty()) continue;
    DOGGED_CHECK(EVP_CipherUpdate(context_.get(), nullptr, &size, In(part),
                                  static_cast<int>(part.size())) == 1);
  }
}

void Aead::Seal(uint64_t counter, Parts associated, Parts text, char* out,
                char* tag) {
  Start(counter, associated);
  int size = 0;
  for (const absl::string_view part : text) {
    if (part.empty()) continue;
    DOGGED_CHECK(EVP_CipherUpdate(context_.get(), Out(out), &size, In(part),
                                  static_cast<int>(part.size())) == 1);
    out += part.size();
  }
  unsigned char none[kTagBytes];
  DOGGED_CHECK(EVP_CipherFinal_ex(context_.get(), none, &size) == 1);
  DOGGED_CHECK(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG,
                                   kTagBytes, tag) == 1);
}

bool Aead::Open(uint64_t counter, Parts associated, absl::string_view text,
                absl::string_view tag, char* out) {
  if (tag.size() != kTagBytes) return false;
  Start(counter, associated);
  int size = 0;
  if (!text.empty() &&
      EVP_CipherUpdate(context_.get(), Out(out), &size, In(text),
                       static_cast<int>(text.size())) != 1) {
    return false;
  }
  unsigned char none[kTagBytes];
  return EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes,
                             const_cast<char*>(tag.data())) == 1 &&
         EVP_CipherFinal_ex(context_.get(), none, &size) == 1;
}

}  // namespace dogged

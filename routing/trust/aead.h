// Aead: authenticated encryption with associated data (RFC 5116) under one key.
// Used by one thread.
#ifndef DOGGED_ROUTING_TRUST_AEAD_H_
#define DOGGED_ROUTING_TRUST_AEAD_H_

#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace dogged {

class Aead {
 public:
  enum class Cipher : uint8_t { kAes256Gcm = 1, kChaCha20Poly1305 = 2 };
  enum class Use { kSeal, kOpen };
  using Parts = absl::Span<const absl::string_view>;
  static constexpr size_t kKeyBytes = 32;
  static constexpr size_t kTagBytes = 16;

  // The one that is fast on this processor: AES if it has instructions for it.
  static Cipher Fastest();
  static bool IsCipher(uint8_t number) { return number == 1 || number == 2; }

  // `key` has kKeyBytes.
  Aead(Cipher cipher, absl::string_view key, Use use);

  // Encrypts `text` to as many bytes at `out`, and kTagBytes at `tag` that
  // vouch for it and for `associated`. Under one key each `counter` is used
  // once.
  void Seal(uint64_t counter, Parts associated, Parts text, char* out,
            char* tag);
  // The reverse. False if a bit of anything differs: what is at `out` then is
  // worth nothing.
  bool Open(uint64_t counter, Parts associated, absl::string_view text,
            absl::string_view tag, char* out);

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const;
  };
  void Start(uint64_t counter, Parts associated);

  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRUST_AEAD_H_

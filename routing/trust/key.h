// Key: the secret that makes a process a member of a cluster. 32 random bytes,
// named by the first digits of their SHA-256; what is encrypted uses keys that
// are derived from it, a label each.
//
// Copies wipe their bytes as they end. Thread-compatible.
#ifndef DOGGED_ROUTING_TRUST_KEY_H_
#define DOGGED_ROUTING_TRUST_KEY_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dogged {

class Key {
 public:
  static constexpr size_t kBytes = 32;
  static constexpr size_t kIdDigits = 4;

  // A random one. Errors: kUnavailable if the system has no randomness.
  static absl::StatusOr<Key> Make();
  // Errors: kInvalidArgument unless `hex` is 64 hex digits; the message never
  // has digits of it.
  static absl::StatusOr<Key> Parse(absl::string_view hex);
  Key(const Key&) = default;
  Key& operator=(const Key&) = default;
  ~Key();

  // "7f3a": no secret.
  const std::string& id() const { return id_; }
  // 64 digits, the secret itself.
  std::string ToHex() const;
  // HKDF-SHA256 (RFC 5869) of this key without salt: `bytes` bytes for the use
  // that `label` names, from 1 to 8160. Different labels give independent keys.
  std::string Derive(absl::string_view label, size_t bytes) const;

  friend bool operator==(const Key& a, const Key& b);

 private:
  explicit Key(const std::array<uint8_t, kBytes>& bytes);

  std::array<uint8_t, kBytes> bytes_;
  std::string id_;
};

// Overwrites `secret`, and empties it.
void Wipe(std::string& secret);

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRUST_KEY_H_

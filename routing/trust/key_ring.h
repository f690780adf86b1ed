// KeyRing: the keys that a process takes from others, one of which it uses
// itself. Several, so that a cluster can get another key while it runs: all
// processes accept the new one, then all use it, then the old one goes.
//
// Invariants: there is a used key; no two keys have the same id.
#ifndef DOGGED_ROUTING_TRUST_KEY_RING_H_
#define DOGGED_ROUTING_TRUST_KEY_RING_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "routing/trust/key.h"

namespace dogged {

class KeyRing {
 public:
  static constexpr size_t kKeysMax = 16;

  explicit KeyRing(Key used) : keys_{std::move(used)} {}
  // The text of a key file: lines "use KEY", of which there is one, and "accept
  // KEY"; empty lines and those after # say nothing. Errors: kInvalidArgument
  // with the line's number, and without a digit of a key.
  static absl::StatusOr<KeyRing> Parse(absl::string_view text);
  std::string Encode() const;

  // The first is the used one.
  const std::vector<Key>& keys() const { return keys_; }
  const Key& used() const { return keys_.front(); }
  // Null if there is none of that id.
  const Key* Find(absl::string_view id) const;
  // "7f3a, c201", the used one first.
  std::string Ids() const;

  // From now on the key is accepted. Errors: kInvalidArgument if it is, or if
  // another key has its id, or there are kKeysMax.
  absl::Status Add(Key key);
  // The key of that id is the used one; the former one is accepted. Errors:
  // kInvalidArgument if there is none.
  absl::Status Use(absl::string_view id);
  // Errors: kInvalidArgument if there is none, or it is the used one.
  absl::Status Remove(absl::string_view id);

  // As Key::Derive() of the used key.
  std::string Derive(absl::string_view label, size_t bytes) const {
    return used().Derive(label, bytes);
  }

 private:
  absl::StatusOr<size_t> IndexOf(absl::string_view id) const;

  std::vector<Key> keys_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRUST_KEY_RING_H_

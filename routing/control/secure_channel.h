// SecureChannel: the cryptography of one connection of the control port:
// TLS 1.3 (RFC 8446) with a key that both ends have as its external PSK, and a
// fresh (EC)DHE exchange. So both ends prove that they have the key, nobody
// else reads or changes a byte, and a key that is stolen later opens nothing of
// today. Neither certificates, tickets, early data nor other versions.
//
// Bytes go in and out; the owner moves them, and never waits. Until is_open()
// the other end is a stranger, of whom little is kept. Thread-compatible.
#ifndef DOGGED_ROUTING_CONTROL_SECURE_CHANNEL_H_
#define DOGGED_ROUTING_CONTROL_SECURE_CHANNEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "routing/trust/key_ring.h"

struct ssl_ctx_st;
struct ssl_st;

namespace dogged {

// Settings that channels share; costs more to make than a channel.
class SecureContext {
 public:
  // Errors: kInternal with OpenSSL's words.
  static absl::StatusOr<std::shared_ptr<const SecureContext>> Create();
  ~SecureContext();
  SecureContext(const SecureContext&) = delete;
  SecureContext& operator=(const SecureContext&) = delete;

 private:
  friend class SecureChannel;
  SecureContext() = default;
  ssl_ctx_st* context_ = nullptr;
};

class SecureChannel {
 public:
  enum class Side { kAccepts, kConnects };
  // `peer` names the other end in messages.
  SecureChannel(std::shared_ptr<const SecureContext> context, Side side,
                std::shared_ptr<const KeyRing> ring, std::string peer);
  ~SecureChannel();
  SecureChannel(const SecureChannel&) = delete;
  SecureChannel& operator=(const SecureChannel&) = delete;

  // Takes bytes that came from the other end, and appends to `plain` what they
  // say. Errors: kPermissionDenied, in words, if the ends don't have the same
  // key, kInvalidArgument for bytes that are not of this protocol, or not as
  // they were sent. After one the channel is of no more use, but an end that
  // accepts may have something unsent: its Refusal.
  absl::Status Take(absl::string_view bytes, std::string& plain);
  // The other end has proved that it has the key.
  bool is_open() const { return is_open_; }
  // Adds `plain` to what is to be sent; only if is_open().
  void Seal(absl::string_view plain);

  // To be sent to the other end.
  absl::string_view unsent() const {
    return absl::string_view(unsent_).substr(sent_);
  }
  void NoteSent(size_t bytes);

  // `bytes` bytes that both ends, and nobody else, can name (RFC 5705); only if
  // is_open().
  std::string Export(absl::string_view label, size_t bytes) const;

 private:
  friend class SecureContext;
  struct Callbacks;  // of OpenSSL

  // Goes on with the handshake as far as it goes.
  absl::Status Shake();
  // In place of what the other end should have said.
  absl::Status TakeClear(absl::string_view bytes);
  void Refuse(absl::string_view frame);
  void MoveOut();

  const std::shared_ptr<const SecureContext> context_;
  const Side side_;
  const std::shared_ptr<const KeyRing> ring_;
  const std::string peer_;
  ssl_st* tls_ = nullptr;
  std::string identity_;  // of the used key
  bool is_open_ = false;
  bool has_named_key_ = false;  // the other end
  bool has_begun_ = false;      // the other end has said something
  std::string clear_;           // from the other end, if that is no TLS
  int64_t taken_ = 0;           // bytes of a stranger
  int64_t sealed_ = 0;          // bytes since the last change of keys
  std::string unsent_;
  size_t sent_ = 0;  // of unsent_
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_SECURE_CHANNEL_H_

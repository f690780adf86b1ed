// SecureChannel: the cryptography of one connection of the control port:
// TLS 1.3 (RFC 8446) with a fresh (EC)DHE exchange, and either a key that both
// ends have as its external PSK, or a certificate of each (certificates.h). So
// both ends prove that they are members, nobody else reads or changes a byte,
// and what is stolen later opens nothing of today. Neither tickets, early data
// nor other versions.
//
// The end that connects offers what it has: its key by the PSK's name, and that
// it has a certificate by an ALPN of its own. The end that accepts takes a key
// that it knows, else certificates. It looks at the other end's certificate
// once the handshake is through, so that its Refusal goes within TLS.
//
// Bytes go in and out; the owner moves them, and never waits. Until is_open()
// the other end is a stranger, of whom little is kept. Thread-compatible.
#ifndef DOGGED_ROUTING_CONTROL_SECURE_CHANNEL_H_
#define DOGGED_ROUTING_CONTROL_SECURE_CHANNEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "routing/control/refusal.h"
#include "routing/trust/certificates.h"
#include "routing/trust/key_ring.h"

struct ssl_ctx_st;
struct ssl_st;

namespace dogged {

// Settings that channels share; costs more to make than a channel.
class SecureContext {
 public:
  // `certificates` may be null: then keys alone count. Errors: kInternal with
  // OpenSSL's words.
  static absl::StatusOr<std::shared_ptr<const SecureContext>> Create(
      std::shared_ptr<const Certificates> certificates = nullptr);
  ~SecureContext();
  SecureContext(const SecureContext&) = delete;
  SecureContext& operator=(const SecureContext&) = delete;

 private:
  friend class SecureChannel;
  SecureContext() = default;
  absl::Status UseCertificates();

  ssl_ctx_st* context_ = nullptr;
  std::shared_ptr<const Certificates> certificates_;  // null: none
};

class SecureChannel {
 public:
  enum class Side { kAccepts, kConnects };
  // `peer` names the other end in messages. `ring` may be null if the context
  // has certificates.
  SecureChannel(std::shared_ptr<const SecureContext> context, Side side,
                std::shared_ptr<const KeyRing> ring, std::string peer);
  ~SecureChannel();
  SecureChannel(const SecureChannel&) = delete;
  SecureChannel& operator=(const SecureChannel&) = delete;

  // Takes bytes that came from the other end, and appends to `plain` what they
  // say. Errors: kPermissionDenied, in words, if the ends don't have the same
  // key or CA, kInvalidArgument for bytes that are not of this protocol, or not
  // as they were sent. After one the channel is of no more use, but an end that
  // accepts may have something unsent: its Refusal.
  absl::Status Take(absl::string_view bytes, std::string& plain);
  // The other end has proved that it is a member.
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
  // The handshake is through: is the other end a member?
  absl::Status CheckPeer();
  // The error of a handshake that failed, by OpenSSL's `words`.
  absl::Status Failed(const std::string& words);
  // In place of what the other end should have said.
  absl::Status TakeClear(absl::string_view bytes);
  void Refuse(absl::string_view frame);
  bool has_certificates() const { return context_->certificates_ != nullptr; }
  // "our key, 7f3a".
  std::string OwnText() const;
  void MoveOut();

  const std::shared_ptr<const SecureContext> context_;
  const Side side_;
  const std::shared_ptr<const KeyRing> ring_;
  const std::string peer_;
  ssl_st* tls_ = nullptr;
  std::string identity_;  // of the used key
  bool is_open_ = false;
  // The other end, which connects:
  bool has_named_key_ = false;
  bool offers_certificate_ = false;
  // Its offer is of no use here.
  std::optional<Refusal::Reason> refusal_;
  absl::Status certified_;  // its certificate is that of a member
  bool has_begun_ = false;  // the other end has said something
  std::string clear_;       // from the other end, if that is no TLS
  int64_t taken_ = 0;       // bytes of a stranger
  int64_t sealed_ = 0;      // bytes since the last change of keys
  std::string unsent_;
  size_t sent_ = 0;  // of unsent_
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_SECURE_CHANNEL_H_

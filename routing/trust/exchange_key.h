// ExchangeKey: one side of a Diffie-Hellman exchange by X25519 (RFC 7748). An
// incarnation makes one as it starts, tells its public half with its address,
// and never writes the other half anywhere: what two incarnations said to each
// other can't be read once both have ended, whoever gets the cluster's key.
#ifndef DOGGED_ROUTING_TRUST_EXCHANGE_KEY_H_
#define DOGGED_ROUTING_TRUST_EXCHANGE_KEY_H_

#include <openssl/types.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace dogged {

class ExchangeKey {
 public:
  static constexpr size_t kBytes = 32;  // of either half, and of a secret

  // A random one.
  ExchangeKey();
  // The half to tell others.
  const std::string& public_half() const { return public_half_; }
  // The secret that this one shares with the owner of that half; none if that
  // is not kBytes long, or one of the points that any secret would fit.
  std::optional<std::string> SecretWith(absl::string_view their_half) const;

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const;
  };
  std::unique_ptr<EVP_PKEY, Free> key_;
  std::string public_half_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRUST_EXCHANGE_KEY_H_

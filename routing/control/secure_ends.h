// SecureEnds: the secure channels of a control port, by its credentials as they
// are now: files that change count from then on. Not thread-safe.
#ifndef DOGGED_ROUTING_CONTROL_SECURE_ENDS_H_
#define DOGGED_ROUTING_CONTROL_SECURE_ENDS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "routing/control/secure_channel.h"
#include "routing/trust/credentials.h"

namespace dogged {

class SecureEnds {
 public:
  // `credentials` outlives this. `connects_by_key`: Connect() uses no
  // certificate. Errors: as SecureContext::Create().
  static absl::StatusOr<std::unique_ptr<SecureEnds>> Create(
      Credentials& credentials, bool connects_by_key);

  // Takes keys and certificates that have changed.
  void Refresh(absl::Time now);
  // This end of a connection that came in, or of one to `peer`.
  std::unique_ptr<SecureChannel> Accept() const;
  std::unique_ptr<SecureChannel> Connect(std::string peer) const;
  // Ids of the keys, the used one first.
  std::vector<std::string> KeyIds() const { return credentials_.KeyIds(); }

 private:
  SecureEnds(Credentials& credentials, bool connects_by_key)
      : credentials_(credentials), connects_by_key_(connects_by_key) {}

  Credentials& credentials_;
  const bool connects_by_key_;
  std::shared_ptr<const Certificates> certificates_;  // of the contexts
  std::shared_ptr<const SecureContext> accepts_;
  std::shared_ptr<const SecureContext> connects_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_SECURE_ENDS_H_

#include "routing/control/secure_ends.h"

#include <utility>

#include "absl/status/status.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"

namespace dogged {

absl::StatusOr<std::unique_ptr<SecureEnds>> SecureEnds::Create(
    Credentials& credentials, bool connects_by_key) {
  std::unique_ptr<SecureEnds> out(new SecureEnds(credentials, connects_by_key));
  out->certificates_ = credentials.certificates();
  DOGGED_ASSIGN_OR_RETURN(out->accepts_,
                          SecureContext::Create(out->certificates_));
  out->connects_ = out->accepts_;
  if (connects_by_key) {
    DOGGED_ASSIGN_OR_RETURN(out->connects_, SecureContext::Create());
  }
  return out;
}

void SecureEnds::Refresh(absl::Time now) {
  credentials_.Refresh(now);
  if (credentials_.certificates() == certificates_) return;
  certificates_ = credentials_.certificates();
  const auto context = SecureContext::Create(certificates_);
  if (!context.ok()) {
    return Log(LogLevel::kWarning, context.status().message());
  }
  accepts_ = *context;
  if (!connects_by_key_) connects_ = *context;
}

std::unique_ptr<SecureChannel> SecureEnds::Accept() const {
  return std::make_unique<SecureChannel>(
      accepts_, SecureChannel::Side::kAccepts, credentials_.ring(), "");
}

std::unique_ptr<SecureChannel> SecureEnds::Connect(std::string peer) const {
  return std::make_unique<SecureChannel>(connects_,
                                         SecureChannel::Side::kConnects,
                                         credentials_.ring(), std::move(peer));
}

}  // namespace dogged

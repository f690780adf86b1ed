// Credentials: what a process proves by that it is a member: keys of its
// cluster, certificates, or both. Either is enough for the other end, if that
// has one of the same sort. Not thread-safe.
#ifndef DOGGED_ROUTING_TRUST_CREDENTIALS_H_
#define DOGGED_ROUTING_TRUST_CREDENTIALS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "routing/trust/certificates.h"
#include "routing/trust/key_file.h"
#include "routing/trust/key_ring.h"

namespace dogged {

class Credentials {
 public:
  // Either may be null.
  explicit Credentials(std::shared_ptr<KeyFile> keys,
                       std::shared_ptr<CertificateFiles> certificates = nullptr)
      : keys_(std::move(keys)), certificates_(std::move(certificates)) {}

  // Null without.
  KeyFile* keys() const { return keys_.get(); }
  CertificateFiles* certificate_files() const { return certificates_.get(); }
  // As last read; null without.
  std::shared_ptr<const KeyRing> ring() const {
    return keys_ == nullptr ? nullptr : keys_->ring();
  }
  std::shared_ptr<const Certificates> certificates() const {
    return certificates_ == nullptr ? nullptr : certificates_->certificates();
  }
  // Path of the key file; empty without.
  std::string key_path() const {
    return keys_ == nullptr ? std::string() : keys_->path();
  }
  // Ids of the keys, the used one first.
  std::vector<std::string> KeyIds() const {
    std::vector<std::string> out;
    if (keys_ == nullptr) return out;
    for (const Key& key : keys_->ring()->keys()) out.push_back(key.id());
    return out;
  }
  // Reads files that have changed, as KeyFile::Refresh().
  void Refresh(absl::Time now) {
    if (keys_ != nullptr) keys_->Refresh(now);
    if (certificates_ != nullptr) certificates_->Refresh(now);
  }

 private:
  const std::shared_ptr<KeyFile> keys_;
  const std::shared_ptr<CertificateFiles> certificates_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRUST_CREDENTIALS_H_

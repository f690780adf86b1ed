// Certificates: the other proof of membership, beside keys: a certificate of a
// CA that all members of a cluster trust, and the private key that goes with
// it. An end that connects has one for client authentication, and an end that
// accepts one for server authentication: extended key usages (RFC 5280,
// 4.2.1.12) have to be there, so that a certificate of another use is none of a
// member, though the CA signed it. Weak keys and hashes (below 112 bits) are
// not taken.
//
// Immutable. Thread-safe.
#ifndef DOGGED_ROUTING_TRUST_CERTIFICATES_H_
#define DOGGED_ROUTING_TRUST_CERTIFICATES_H_

#include <openssl/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "routing/trust/own_file.h"

struct stack_st_X509;  // of OpenSSL

namespace dogged {

// Files in PEM. All or none are named.
struct CertificatePaths {
  std::string ca;           // certificates of CAs that are trusted
  std::string certificate;  // our own, and those between it and such a CA
  std::string key;          // of our own; not encrypted

  bool has_any() const {
    return !ca.empty() || !certificate.empty() || !key.empty();
  }
};

// The end of a connection that a certificate is for.
enum class CertificateUse { kConnects, kAccepts };

class Certificates {
 public:
  // Errors: kInvalidArgument, in words that name the file: as ReadOwnFile(), or
  // what is wrong in it.
  static absl::StatusOr<std::shared_ptr<const Certificates>> Read(
      const CertificatePaths& paths, std::vector<FileVersion>& versions);
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  X509* own() const { return chain_.front().get(); }
  // Behind own(), in order.
  std::vector<X509*> between() const;
  EVP_PKEY* key() const { return key_.get(); }
  // Subject and issuer of own().
  std::string OwnText() const;

  // `certificate`, which came with `others`, is that of a member for that use,
  // today. Errors: kPermissionDenied, with its subject and issuer, what is
  // wrong with it, and what is taken.
  absl::Status Check(X509* certificate, const stack_st_X509* others,
                     CertificateUse use) const;
  // The same of our own, for all of `uses`. Errors: kInvalidArgument, naming
  // the file.
  absl::Status CheckOwn(absl::Span<const CertificateUse> uses) const;

 private:
  struct Free {
    void operator()(X509* certificate) const;
    void operator()(X509_STORE* store) const;
    void operator()(EVP_PKEY* key) const;
  };
  using Certificate = std::unique_ptr<X509, Free>;

  Certificates() = default;
  static absl::StatusOr<std::vector<Certificate>> ReadChain(
      absl::string_view kind, const std::string& path, bool is_ca,
      FileVersion& version);
  absl::Status ReadKey(const std::string& path, FileVersion& version);
  // Both ends of TLS 1.3 can use what was read.
  absl::Status CheckTls13() const;

  std::string path_;     // of our own
  std::string issuers_;  // the trusted CAs, in words
  std::unique_ptr<X509_STORE, Free> store_;
  std::vector<Certificate> chain_;
  std::unique_ptr<EVP_PKEY, Free> key_;
};

// CertificateFiles: certificates that are read again when their files change,
// as those do that last for days. Not thread-safe.
class CertificateFiles {
 public:
  // Our own certificate is for all of `uses`. Errors: as Certificates::Read()
  // and CheckOwn(), and where not all files are named.
  static absl::StatusOr<std::unique_ptr<CertificateFiles>> Open(
      const CertificatePaths& paths, std::vector<CertificateUse> uses);

  const CertificatePaths& paths() const { return paths_; }
  // As last read; another one takes the place when files change.
  const std::shared_ptr<const Certificates>& certificates() const {
    return certificates_;
  }
  // Looks, once a second, whether a file has changed. True if certificates()
  // is another one now. Files that are unfit change nothing, and are logged
  // once; so is a certificate that has expired.
  bool Refresh(absl::Time now);

 private:
  CertificateFiles(CertificatePaths paths, std::vector<CertificateUse> uses)
      : paths_(std::move(paths)), uses_(std::move(uses)) {}
  // Errors: as Open().
  absl::StatusOr<std::shared_ptr<const Certificates>> Read();
  void NoteExpired(absl::Time now);

  const CertificatePaths paths_;
  const std::vector<CertificateUse> uses_;
  std::shared_ptr<const Certificates> certificates_;
  std::vector<FileVersion> versions_;
  absl::Time next_look_ = absl::InfinitePast();
  absl::Time next_check_ = absl::InfinitePast();
  bool is_unfit_ = false;  // certificates() are, and the log says so
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRUST_CERTIFICATES_H_

// SiteAuthority: a CA for tests, and the certificates that it issues, as files
// in PEM of a folder. Certificates may be wrong in each of the ways that a test
// wants.
#ifndef DOGGED_TESTS_ROUTING_SITE_AUTHORITY_H_
#define DOGGED_TESTS_ROUTING_SITE_AUTHORITY_H_

#include <openssl/evp.h>
#include <openssl/types.h>

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "routing/trust/certificates.h"
#include "tests/output/temporary_folder.h"

namespace dogged {

class SiteAuthority {
 public:
  struct Wish {
    std::string name = "alice";  // common name, and of the files
    std::string usages = "clientAuth,serverAuth";  // "": has none
    absl::Duration from = -absl::Hours(1);         // now
    absl::Duration until = absl::Hours(1);
    std::string curve = "P-256";  // "": RSA of `rsa_bits`
    int rsa_bits = 2048;
    const EVP_MD* digest = EVP_sha256();
  };
  // Writes NAME.pem to the folder, which outlives this.
  SiteAuthority(const TemporaryFolder& folder, const std::string& name);

  // A certificate of this CA: files NAME.pem and NAME.key.
  CertificatePaths Issue(const Wish& wish) const;
  // The same, read; the test fails if it can't be.
  std::shared_ptr<const Certificates> Member(const Wish& wish) const;
  std::string ca_path() const { return folder_ / (name_ + ".pem"); }

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const;
    void operator()(X509* certificate) const;
  };
  using PrivateKey = std::unique_ptr<EVP_PKEY, Free>;
  using Certificate = std::unique_ptr<X509, Free>;

  Certificate Make(const Wish& wish, EVP_PKEY* key, bool is_ca) const;
  void WriteFiles(const std::string& name, X509* certificate,
                  EVP_PKEY* key) const;

  const TemporaryFolder& folder_;
  const std::string name_;
  PrivateKey key_;
  Certificate certificate_;
};

// A private key in PEM that says of itself that it is the one of `certificate`
// (a file, P-256), and is another.
std::string ForgedKey(const std::string& certificate);

}  // namespace dogged

#endif  // DOGGED_TESTS_ROUTING_SITE_AUTHORITY_H_

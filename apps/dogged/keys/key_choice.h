// KeyChoice: which key file and certificates a command has, if any.
#ifndef DOGGED_APPS_DOGGED_KEYS_KEY_CHOICE_H_
#define DOGGED_APPS_DOGGED_KEYS_KEY_CHOICE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/dogged/process/environment.h"
#include "routing/trust/certificates.h"
#include "routing/trust/credentials.h"

namespace dogged {

struct KeyChoice {
  std::string flag;               // --key-file; empty: not given
  bool insecure = false;          // --insecure: no key
  CertificatePaths certificates;  // --ca-file and so on; empty: not given
};

// The file that somebody named: that of the flag, else of DOGGED_KEY_FILE;
// empty if there is none. Errors: kInvalidArgument for an empty name, and for
// --key-file beside --insecure.
absl::StatusOr<std::string> NamedKeyFile(const KeyChoice& choice,
                                         const Environment& environment);

// The files of certificates that somebody named, each by its flag, else by its
// variable; all are empty if there is none. Errors: kInvalidArgument for an
// empty name, and for flags beside --insecure.
absl::StatusOr<CertificatePaths> NamedCertificates(
    const KeyChoice& choice, const Environment& environment);

// Where keys are that nobody named: ~/.dogged/key. Empty without a home.
std::string DefaultKeyFile(const Environment& environment);

// The named file's keys, for agents of this command's own; null if nobody named
// one. Errors: as above, as KeyFile::Open(), and for flags of certificates,
// which such agents have not.
absl::StatusOr<std::shared_ptr<Credentials>> OpenNamedKeys(
    const KeyChoice& choice, const Environment& environment);
// All that was named, and where nobody named a key file, or said --insecure,
// that of the default file if it is there; null for nothing. Our certificate is
// for all of `uses`. Errors: as above, and as CertificateFiles::Open().
absl::StatusOr<std::shared_ptr<Credentials>> OpenCredentials(
    const KeyChoice& choice, const Environment& environment,
    std::vector<CertificateUse> uses = {CertificateUse::kConnects});

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_KEYS_KEY_CHOICE_H_

// KeyChoice: which key file a command has, if any.
#ifndef DOGGED_APPS_DOGGED_KEYS_KEY_CHOICE_H_
#define DOGGED_APPS_DOGGED_KEYS_KEY_CHOICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "apps/dogged/process/environment.h"
#include "routing/trust/key_file.h"

namespace dogged {

struct KeyChoice {
  std::string flag;       // --key-file; empty: not given
  bool insecure = false;  // --insecure: no key
};

// The file that somebody named: that of the flag, else of DOGGED_KEY_FILE;
// empty if there is none. Errors: kInvalidArgument for an empty name, and for
// --key-file beside --insecure.
absl::StatusOr<std::string> NamedKeyFile(const KeyChoice& choice,
                                         const Environment& environment);

// Where keys are that nobody named: ~/.dogged/key. Empty without a home.
std::string DefaultKeyFile(const Environment& environment);

// The named file's keys, null if nobody named one. Errors: as above, and as
// KeyFile::Open().
absl::StatusOr<std::shared_ptr<KeyFile>> OpenNamedKeys(
    const KeyChoice& choice, const Environment& environment);
// The same, but where nobody said anything else, of the default file if it is
// there.
absl::StatusOr<std::shared_ptr<KeyFile>> OpenKeys(
    const KeyChoice& choice, const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_KEYS_KEY_CHOICE_H_

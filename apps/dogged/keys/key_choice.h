// KeyChoice: which key file a command has, if any.
#ifndef DOGGED_APPS_DOGGED_KEYS_KEY_CHOICE_H_
#define DOGGED_APPS_DOGGED_KEYS_KEY_CHOICE_H_

#include <string>

#include "absl/status/statusor.h"
#include "apps/dogged/process/environment.h"

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

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_KEYS_KEY_CHOICE_H_

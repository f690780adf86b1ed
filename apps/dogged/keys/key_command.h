// `dogged key`: makes keys, and changes which ones a key file has.
#ifndef DOGGED_APPS_DOGGED_KEYS_KEY_COMMAND_H_
#define DOGGED_APPS_DOGGED_KEYS_KEY_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"

namespace dogged {

struct KeyCommandOptions {
  enum class Action { kNew, kList, kAdd, kUse, kRemove };
  Action action = Action::kList;
  std::string file;  // --file; empty: as NamedKeyFile(), or the default one
  std::string from;  // of kAdd: another key file; empty: a new key
  std::string id;    // of kUse and kRemove
};

// Says what it did on standard output: ids of keys, never a key.
ExitCode KeyCommand(const KeyCommandOptions& options,
                    const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_KEYS_KEY_COMMAND_H_

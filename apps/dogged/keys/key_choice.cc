#include "apps/dogged/keys/key_choice.h"

#include "absl/strings/str_cat.h"

namespace dogged {

absl::StatusOr<std::string> NamedKeyFile(const KeyChoice& choice,
                                         const Environment& environment) {
  if (choice.insecure && !choice.flag.empty()) {
    return absl::InvalidArgumentError(
        "--key-file and --insecure: with a key or without? say one of them");
  }
  if (choice.insecure || !choice.flag.empty()) return choice.flag;
  if (!environment.key_file.has_value()) return std::string();
  // A variable that was left empty by mistake must not mean "no key".
  if (environment.key_file->empty()) {
    return absl::InvalidArgumentError(
        "DOGGED_KEY_FILE is empty: give it the name of a key file, or unset "
        "it");
  }
  return *environment.key_file;
}

std::string DefaultKeyFile(const Environment& environment) {
  if (environment.home.empty()) return "";
  return absl::StrCat(environment.home, "/.dogged/key");
}

}  // namespace dogged

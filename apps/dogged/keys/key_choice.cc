#include "apps/dogged/keys/key_choice.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

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

absl::StatusOr<std::shared_ptr<KeyFile>> OpenNamedKeys(
    const KeyChoice& choice, const Environment& environment) {
  DOGGED_ASSIGN_OR_RETURN(const std::string path,
                          NamedKeyFile(choice, environment));
  if (path.empty()) return nullptr;
  return KeyFile::Open(path);
}

absl::StatusOr<std::shared_ptr<KeyFile>> OpenKeys(
    const KeyChoice& choice, const Environment& environment) {
  DOGGED_ASSIGN_OR_RETURN(std::shared_ptr<KeyFile> named,
                          OpenNamedKeys(choice, environment));
  const std::string path = DefaultKeyFile(environment);
  if (named != nullptr || choice.insecure || path.empty()) return named;
  // Only a file that is surely not there means no key.
  std::error_code error;
  if (std::filesystem::symlink_status(path, error).type() ==
      std::filesystem::file_type::not_found) {
    return nullptr;
  }
  return KeyFile::Open(path);
}

}  // namespace dogged

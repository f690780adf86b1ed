#include "apps/dogged/keys/key_choice.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

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

absl::StatusOr<CertificatePaths> NamedCertificates(
    const KeyChoice& choice, const Environment& environment) {
  CertificatePaths out = choice.certificates;
  if (choice.insecure && out.has_any()) {
    return absl::InvalidArgumentError(
        "--ca-file and --insecure: with a certificate or without? say one of "
        "them");
  }
  if (choice.insecure) return out;
  const std::tuple<std::string&, const std::optional<std::string>&, const char*>
      named[] = {{out.ca, environment.ca_file, "DOGGED_CA_FILE"},
                 {out.certificate, environment.cert_file, "DOGGED_CERT_FILE"},
                 {out.key, environment.cert_key_file, "DOGGED_CERT_KEY_FILE"}};
  for (const auto& [path, variable, name] : named) {
    if (!path.empty() || !variable.has_value()) continue;
    if (variable->empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, " is empty: give it the name of a file, or unset it"));
    }
    path = *variable;
  }
  return out;
}

std::string DefaultKeyFile(const Environment& environment) {
  if (environment.home.empty()) return "";
  return absl::StrCat(environment.home, "/.dogged/key");
}

absl::StatusOr<std::shared_ptr<Credentials>> OpenNamedKeys(
    const KeyChoice& choice, const Environment& environment) {
  if (choice.certificates.has_any()) {
    return absl::InvalidArgumentError(
        "--ca-file is for agents that run already: name them with --cluster");
  }
  DOGGED_ASSIGN_OR_RETURN(const std::string path,
                          NamedKeyFile(choice, environment));
  if (path.empty()) return nullptr;
  DOGGED_ASSIGN_OR_RETURN(std::shared_ptr<KeyFile> keys, KeyFile::Open(path));
  return std::make_shared<Credentials>(std::move(keys));
}

absl::StatusOr<std::shared_ptr<Credentials>> OpenCredentials(
    const KeyChoice& choice, const Environment& environment,
    std::vector<CertificateUse> uses) {
  std::shared_ptr<CertificateFiles> certificates;
  DOGGED_ASSIGN_OR_RETURN(const CertificatePaths paths,
                          NamedCertificates(choice, environment));
  if (paths.has_any()) {
    DOGGED_ASSIGN_OR_RETURN(certificates,
                            CertificateFiles::Open(paths, std::move(uses)));
  }
  DOGGED_ASSIGN_OR_RETURN(const std::string named,
                          NamedKeyFile(choice, environment));
  const std::string path =
      named.empty() && !choice.insecure ? DefaultKeyFile(environment) : named;
  // Only a default file that is surely not there means no key.
  std::error_code error;
  const bool has_keys =
      !named.empty() ||
      (!path.empty() && std::filesystem::symlink_status(path, error).type() !=
                            std::filesystem::file_type::not_found);
  std::shared_ptr<KeyFile> keys;
  if (has_keys) {
    DOGGED_ASSIGN_OR_RETURN(keys, KeyFile::Open(path));
  }
  if (keys == nullptr && certificates == nullptr) return nullptr;
  return std::make_shared<Credentials>(std::move(keys),
                                       std::move(certificates));
}

}  // namespace dogged

#include "apps/dogged/agent/allowed_libraries.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "apps/dogged/process/text_file.h"
#include "routing/trust/sha256.h"

namespace dogged {
namespace {

constexpr size_t kDigits = 64;

}  // namespace

absl::StatusOr<AllowedLibraries> AllowedLibraries::Parse(
    const std::string& text) {
  AllowedLibraries out;
  out.rule_ = text;
  if (text == "any" || text == "builtin") return out;
  absl::string_view path = text;
  if (!absl::ConsumePrefix(&path, "listed:") || path.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--kernels ", text, ": is none of builtin, listed:FILE, any"));
  }
  const absl::StatusOr<std::string> list =
      ReadFile(std::string(path), "list of libraries");
  if (!list.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--kernels listed: ", list.status().message()));
  }
  int number = 0;
  for (absl::string_view line : absl::StrSplit(*list, '\n')) {
    ++number;
    line = line.substr(0, line.find('#'));
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    if (words[0].size() != kDigits ||
        !std::all_of(words[0].begin(), words[0].end(), absl::ascii_isxdigit)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--kernels listed: ", path, ": line ", number,
                       " does not begin with a SHA-256, as sha256sum prints "
                       "it"));
    }
    out.digests_.insert(absl::AsciiStrToLower(words[0]));
  }
  return out;
}

absl::Status AllowedLibraries::Check(const KernelLibrarySpec& spec) const {
  if (rule_ == "any") return absl::OkStatus();
  const std::string digest = Sha256Hex(spec.content);
  if (digests_.contains(digest)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      spec.name, " (SHA-256 ", digest,
      ") is not allowed here: this agent runs with --kernels ", rule_));
}

}  // namespace dogged

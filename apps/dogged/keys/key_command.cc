#include "apps/dogged/keys/key_command.h"

#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged/keys/key_choice.h"
#include "apps/dogged/process/errors.h"
#include "routing/trust/key_file.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

using Action = KeyCommandOptions::Action;

absl::StatusOr<std::string> PathOf(const KeyCommandOptions& options,
                                   const Environment& environment) {
  DOGGED_ASSIGN_OR_RETURN(std::string path,
                          NamedKeyFile({.flag = options.file}, environment));
  if (path.empty()) path = DefaultKeyFile(environment);
  if (path.empty()) {
    return absl::InvalidArgumentError(
        "which key file? HOME is not set; name it with --file");
  }
  return path;
}

void List(const KeyFile& file) {
  std::printf("%s\n", file.path().c_str());
  for (const Key& key : file.ring()->keys()) {
    const bool is_used = &key == &file.ring()->used();
    std::printf("  %s  %s\n", key.id().c_str(), is_used ? "used" : "accepted");
  }
}

absl::Status Add(const std::string& from, KeyRing& ring) {
  if (from.empty()) {
    DOGGED_ASSIGN_OR_RETURN(Key key, Key::Make());
    return ring.Add(std::move(key));
  }
  DOGGED_ASSIGN_OR_RETURN(const auto other, KeyFile::Open(from));
  int added = 0;
  for (const Key& key : other->ring()->keys()) {
    const Key* const same = ring.Find(key.id());
    if (same != nullptr && *same == key) continue;
    DOGGED_RETURN_IF_ERROR(ring.Add(key));
    ++added;
  }
  if (added > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("all keys of ", from, " are there already: ", ring.Ids()));
}

absl::Status Change(const KeyCommandOptions& options, KeyFile& file) {
  KeyRing ring = *file.ring();
  absl::Status changed;
  if (options.action == Action::kAdd) changed = Add(options.from, ring);
  if (options.action == Action::kUse) changed = ring.Use(options.id);
  if (options.action == Action::kRemove) changed = ring.Remove(options.id);
  DOGGED_RETURN_IF_ERROR(Annotate(changed, file.path()));
  return file.Replace(ring);
}

absl::Status RunAction(const KeyCommandOptions& options,
                       const Environment& environment) {
  DOGGED_ASSIGN_OR_RETURN(const std::string path, PathOf(options, environment));
  const bool is_new = options.action == Action::kNew;
  DOGGED_ASSIGN_OR_RETURN(const std::unique_ptr<KeyFile> file,
                          is_new ? KeyFile::Create(path) : KeyFile::Open(path));
  if (!is_new && options.action != Action::kList) {
    DOGGED_RETURN_IF_ERROR(Change(options, *file));
  }
  List(*file);
  return absl::OkStatus();
}

}  // namespace

ExitCode KeyCommand(const KeyCommandOptions& options,
                    const Environment& environment) {
  const absl::Status status = RunAction(options, environment);
  if (status.ok()) return ExitCode::kDone;
  PrintError(status.message());
  return absl::IsResourceExhausted(status) ? ExitCode::kNoRoom
                                           : ExitCode::kMistyped;
}

}  // namespace dogged

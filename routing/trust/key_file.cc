#include "routing/trust/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "routing/trust/own_file.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr OwnFileRules kRules = {
    .kind = "key file",
    .if_missing = "copy that of the cluster, or make one with `dogged key new`",
    .if_empty =
        "copy that of the cluster, or remove it and say `dogged key new`",
    .if_no_file = "`dogged key new` makes one",
    .is_secret = true,
    .if_seen = "make another key"};

absl::Status Trouble(const std::string& path, absl::string_view words) {
  return OwnFileTrouble(kRules.kind, path, words);
}

absl::Status SystemTrouble(const std::string& path, absl::string_view what,
                           int error) {
  return OwnFileError(kRules.kind, path, what, error);
}

// A key in place of a file's path is a mistake that others may have seen.
bool IsKey(const std::string& path) {
  return path.size() == 2 * Key::kBytes &&
         std::all_of(path.begin(), path.end(), absl::ascii_isxdigit);
}

absl::Status WriteAll(const std::string& path, int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t size = write(fd, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return SystemTrouble(path, "can't be written", errno);
    text.remove_prefix(static_cast<size_t>(size));
  }
  // Modes are as asked whatever the umask is.
  if (fchmod(fd, 0600) != 0 || fsync(fd) != 0) {
    return SystemTrouble(path, "can't be written", errno);
  }
  return absl::OkStatus();
}

// Writes a new file. Errors: as `taken` if there is one.
absl::Status WriteNew(const std::string& path, const KeyRing& ring,
                      absl::string_view taken) {
  const int fd =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 && errno == EEXIST) return Trouble(path, taken);
  if (fd < 0) return SystemTrouble(path, "can't be made", errno);
  std::string text = ring.Encode();
  absl::Status written = WriteAll(path, fd, text);
  Wipe(text);
  if (close(fd) != 0 && written.ok()) {
    written = SystemTrouble(path, "can't be written", errno);
  }
  if (!written.ok()) unlink(path.c_str());
  return written;
}

}  // namespace

absl::StatusOr<std::unique_ptr<KeyFile>> KeyFile::Open(
    const std::string& path) {
  std::unique_ptr<KeyFile> file(new KeyFile(path));
  DOGGED_RETURN_IF_ERROR(file->Read());
  return file;
}

absl::Status KeyFile::Read() {
  if (path_.empty()) {
    return absl::InvalidArgumentError(
        "the name of a key file is empty; `dogged key new` makes one");
  }
  if (IsKey(path_)) {
    return absl::InvalidArgumentError(
        "a key stands where the name of its file should: others may have seen "
        "it, so make another one, with `dogged key new`");
  }
  DOGGED_ASSIGN_OR_RETURN(std::string text,
                          ReadOwnFile(path_, kRules, version_));
  const absl::Cleanup wipes = [&text] { Wipe(text); };
  absl::StatusOr<KeyRing> ring = KeyRing::Parse(text);
  if (!ring.ok()) return Trouble(path_, ring.status().message());
  ring_ = std::make_shared<const KeyRing>(*std::move(ring));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<KeyFile>> KeyFile::Create(
    const std::string& path) {
  if (path.empty() || IsKey(path)) return Open(path);  // has words for it
  const std::filesystem::path folder =
      std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::exists(folder, error)) {
    std::filesystem::create_directories(folder.parent_path(), error);
    if (mkdir(folder.c_str(), 0700) != 0) {
      return SystemTrouble(path, "its folder can't be made", errno);
    }
  }
  DOGGED_ASSIGN_OR_RETURN(Key key, Key::Make());
  DOGGED_RETURN_IF_ERROR(
      WriteNew(path, KeyRing(std::move(key)),
               "is there already, and is not overwritten; `dogged key add` "
               "puts another key in it"));
  return Open(path);
}

bool KeyFile::Refresh(absl::Time now) {
  if (now < next_look_) return false;
  next_look_ = now + kOwnFileInterval;
  const FileVersion version = FileVersionOf(path_);
  if (version == version_) return false;
  version_ = version;
  const std::shared_ptr<const KeyRing> before = ring_;
  if (const absl::Status read = Read(); !read.ok()) {
    Log(LogLevel::kWarning,
        absl::StrCat(read.message(), "; the keys ", ring_->Ids(),
                     " that it had go on being used"));
    return false;
  }
  Log(LogLevel::kInfo,
      absl::StrCat("keys from now on: ", ring_->Ids(), ", the first is used"));
  return true;
}

absl::Status KeyFile::Replace(const KeyRing& ring) {
  std::error_code error;
  // The file, not a link to it.
  const std::string target = std::filesystem::canonical(path_, error).string();
  if (error) return SystemTrouble(path_, "can't be written", error.value());
  const std::string partial = absl::StrCat(target, ".new");
  DOGGED_RETURN_IF_ERROR(
      WriteNew(partial, ring,
               "another `dogged key` writes just now; if none does, remove "
               "this file"));
  if (std::rename(partial.c_str(), target.c_str()) != 0) {
    const int failure = errno;
    unlink(partial.c_str());
    return SystemTrouble(path_, "can't be written", failure);
  }
  return Read();
}

}  // namespace dogged

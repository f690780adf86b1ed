#include "routing/trust/own_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "routing/trust/key.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

FileVersion VersionOfStat(const struct stat& file) {
  return {static_cast<int64_t>(file.st_dev),
          static_cast<int64_t>(file.st_ino),
          file.st_size,
          file.st_mtim.tv_sec,
          file.st_mtim.tv_nsec,
          file.st_ctim.tv_nsec};
}

absl::Status CheckIsOwn(const std::string& path, const OwnFileRules& rules,
                        const struct stat& file) {
  if (S_ISDIR(file.st_mode)) {
    return OwnFileTrouble(rules.kind, path, "is a folder; name the file in it");
  }
  if (!S_ISREG(file.st_mode)) {
    return OwnFileTrouble(rules.kind, path,
                          absl::StrCat("is no file; ", rules.if_no_file));
  }
  if (file.st_uid != geteuid() && file.st_uid != 0) {
    return OwnFileTrouble(
        rules.kind, path,
        absl::StrCat("belongs to user ", file.st_uid,
                     ", who could change it; use a copy of your own"));
  }
  const mode_t denied = rules.is_secret ? 077 : 022;
  if ((file.st_mode & denied) != 0) {
    return OwnFileTrouble(
        rules.kind, path,
        absl::StrFormat("others may %schange it (mode %04o); say `chmod %s "
                        "%s`, and %s if they did",
                        rules.is_secret ? "read or " : "", file.st_mode & 07777,
                        rules.is_secret ? "600" : "644", path, rules.if_seen));
  }
  return absl::OkStatus();
}

}  // namespace

FileVersion FileVersionOf(const std::string& path) {
  struct stat file {};
  return stat(path.c_str(), &file) == 0 ? VersionOfStat(file) : FileVersion();
}

absl::Status OwnFileTrouble(absl::string_view kind, const std::string& path,
                            absl::string_view words) {
  return absl::InvalidArgumentError(absl::StrCat(kind, " ", path, ": ", words));
}

absl::Status OwnFileError(absl::string_view kind, const std::string& path,
                          absl::string_view what, int error) {
  const std::string words =
      absl::StrCat(what, ": ", std::generic_category().message(error));
  if (error == ENOSPC || error == EDQUOT || error == EMFILE ||
      error == ENFILE || error == ENOMEM) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kind, " ", path, ": ", words));
  }
  return OwnFileTrouble(kind, path, words);
}

absl::StatusOr<std::string> ReadOwnFile(const std::string& path,
                                        const OwnFileRules& rules,
                                        FileVersion& version) {
  // A pipe would be waited for.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return OwnFileTrouble(rules.kind, path,
                          absl::StrCat("is not there; ", rules.if_missing));
  }
  const auto unread = [&] {
    return OwnFileError(rules.kind, path, "can't be read", errno);
  };
  if (fd < 0) return unread();
  const absl::Cleanup closes = [fd] { close(fd); };
  struct stat file {};
  if (fstat(fd, &file) != 0) return unread();
  version = VersionOfStat(file);
  DOGGED_RETURN_IF_ERROR(CheckIsOwn(path, rules, file));
  std::string text(kOwnFileBytesMax + 1, '\0');
  absl::Cleanup wipes = [&text] { Wipe(text); };
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unread();
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size == 0) {
    return OwnFileTrouble(rules.kind, path,
                          absl::StrCat("is empty; ", rules.if_empty));
  }
  if (size > kOwnFileBytesMax) {
    return OwnFileTrouble(rules.kind, path, "is too long to be one");
  }
  std::move(wipes).Cancel();
  text.resize(size);
  return text;
}

}  // namespace dogged

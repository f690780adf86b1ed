#include "apps/output/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Locks all of `file` for the description that is open here; other processes
// can't, as long as it is. Network file systems know such locks.
bool Lock(int file) {
  struct flock all = {};
  all.l_type = F_WRLCK;
  all.l_whence = SEEK_SET;
  return fcntl(file, F_OFD_SETLK, &all) == 0;
}

// Digits follow, hexadecimal ones, of which the process or the file is known.
bool IsUnfinished(absl::string_view name, absl::string_view prefix) {
  return absl::ConsumePrefix(&name, prefix) && !name.empty() &&
         std::all_of(name.begin(), name.end(), absl::ascii_isxdigit);
}

// Removes the file and what belongs to it, if its writer is dead.
void RemoveIfStale(const std::string& target, const std::string& path) {
  const int file =
      open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  struct stat status = {};
  const bool is_ours = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                       status.st_uid == geteuid();
  if (is_ours && Lock(file)) RemoveUnfinished(target, path);
  close(file);
}

// Only a regular file may be replaced: a pipe would hang until somebody reads
// it.
absl::Status CheckKind(absl::string_view path, const struct stat& status) {
  if (S_ISREG(status.st_mode)) return absl::OkStatus();
  if (S_ISDIR(status.st_mode)) return FileError(path, "cannot write", EISDIR);
  return absl::InvalidArgumentError(absl::StrCat(
      path,
      ": cannot write: is a device or pipe; write to a file, and copy "
      "that there"));
}

}  // namespace

std::string UnfinishedPrefix(const std::string& target) {
  // Bytes of a file's name, so that more can be added to it.
  constexpr size_t kNameMax = 200;
  const size_t begin = target.rfind('/') + 1;  // 0 without a folder
  return absl::StrCat(target.substr(0, begin + kNameMax), ".part-");
}

// Where a file system has no locks nothing counts as stale.
bool MarkAsWritten(int file) {
  (void)Lock(file);
  struct stat status = {};
  return fstat(file, &status) != 0 || status.st_nlink > 0;
}

int OpenBeside(const std::string& target, mode_t mode, std::string& name) {
  name = absl::StrCat(UnfinishedPrefix(target), getpid());
  while (true) {
    const int file =
        open(name.c_str(),
             O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file < 0 || MarkAsWritten(file)) return file;
    close(file);
  }
}

void RemoveUnfinished(const std::string& target, const std::string& name) {
  std::error_code ignored;
  std::filesystem::remove_all(absl::StrCat(name, kUnfinishedFolder), ignored);
  const std::string former = absl::StrCat(name, kFormerFolder);
  if (std::filesystem::exists(target, ignored)) {
    std::filesystem::remove_all(former, ignored);
  } else {
    std::filesystem::rename(former, target, ignored);
  }
  unlink(name.c_str());
}

void RemoveStaleBeside(const std::string& target) {
  const std::string prefix = UnfinishedPrefix(target);
  const size_t begin = prefix.rfind('/') + 1;
  const std::string folder = begin == 0 ? "./" : prefix.substr(0, begin);
  std::error_code failed;
  std::vector<std::string> found;
  std::filesystem::directory_iterator entry(folder, failed);
  for (; !failed && entry != std::filesystem::directory_iterator();
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (IsUnfinished(name, absl::string_view(prefix).substr(begin))) {
      found.push_back(absl::StrCat(folder, name));
    }
  }
  for (const std::string& path : found) RemoveIfStale(target, path);
}

absl::Status FileError(absl::string_view path, absl::string_view what,
                       int system_error) {
  const std::string text = absl::StrCat(
      path, ": ", what, ": ", std::generic_category().message(system_error));
  switch (system_error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return absl::ResourceExhaustedError(text);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(text);
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(text);
    case EISDIR:
    case EEXIST:
    case ENAMETOOLONG:
    case ELOOP:
      return absl::InvalidArgumentError(text);
    default:
      return absl::UnavailableError(text);
  }
}

std::string ResolveLinks(const std::string& path) {
  constexpr int kLinksMax = 40;  // as the kernel's
  std::string out = path;
  for (int links = 0; links <= kLinksMax; ++links) {
    const std::unique_ptr<char, void (*)(void*)> resolved(
        realpath(out.c_str(), nullptr), std::free);
    if (resolved != nullptr) return resolved.get();
    // No file is there: a link may name one that is yet to be made.
    std::error_code is_no_link;
    const std::filesystem::path named =
        std::filesystem::read_symlink(out, is_no_link);
    if (is_no_link) return out;
    out = (std::filesystem::path(out).parent_path() / named).string();
  }
  return path;  // a ring, which opening it tells
}

absl::Status CheckFolderOf(absl::string_view path, const std::string& target) {
  const size_t slash = target.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "." : target.substr(0, slash + 1);
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0) {
    if (errno != ENOENT) return FileError(path, "cannot create", errno);
    const bool is_link = target != path;
    return absl::NotFoundError(absl::StrCat(
        path, is_link ? absl::StrCat(": is a link to ", target, ", and") : ":",
        " there is no folder ", folder, "; make it first",
        is_link ? ", or remove the link" : ""));
  }
  if (!S_ISDIR(status.st_mode)) {
    return FileError(path, "cannot create", ENOTDIR);
  }
  return absl::OkStatus();
}

absl::Status CheckWritable(absl::string_view path) {
  const std::string target = ResolveLinks(std::string(path));
  struct stat status = {};
  if (stat(target.c_str(), &status) == 0) {
    DOGGED_RETURN_IF_ERROR(CheckKind(path, status));
    if (access(target.c_str(), W_OK) != 0) {
      return FileError(path, "cannot write", errno);
    }
  } else if (errno == ENAMETOOLONG || errno == ELOOP) {
    return FileError(path, "cannot create", errno);
  }
  DOGGED_RETURN_IF_ERROR(CheckFolderOf(path, target));
  // In some folders no file can be made, whatever their rights say.
  std::string temporary;
  const int file = OpenBeside(target, 0600, temporary);
  if (file < 0) return FileError(path, "cannot create", errno);
  close(file);
  unlink(temporary.c_str());
  return absl::OkStatus();
}

absl::StatusOr<FileWriter> FileWriter::Create(absl::string_view path) {
  std::string target = ResolveLinks(std::string(path));
  struct stat status = {};
  const bool is_there = stat(target.c_str(), &status) == 0;
  // A rename would replace the link.
  if (!is_there && errno == ELOOP) {
    return FileError(path, "cannot create", errno);
  }
  if (is_there) DOGGED_RETURN_IF_ERROR(CheckKind(path, status));
  // The rename of Commit() would replace a file that its owner had locked.
  if (is_there && access(target.c_str(), W_OK) != 0) {
    return FileError(path, "cannot write", errno);
  }
  RemoveStaleBeside(target);
  std::string temporary;
  const int file =
      OpenBeside(target, is_there ? status.st_mode & 0777 : 0666, temporary);
  if (file < 0) return FileError(path, "cannot create", errno);
  return FileWriter(path, std::move(target), std::move(temporary), file);
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

FileWriter::~FileWriter() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status FileWriter::Append(absl::string_view piece) {
  while (!piece.empty()) {
    const ssize_t written = write(descriptor_, piece.data(), piece.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError(path_, "cannot write", errno);
    piece.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status FileWriter::WriteAt(int64_t offset, absl::string_view piece) {
  while (!piece.empty()) {
    const ssize_t written =
        pwrite(descriptor_, piece.data(), piece.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError(path_, "cannot write", errno);
    piece.remove_prefix(static_cast<size_t>(written));
    offset += written;
  }
  return absl::OkStatus();
}

absl::Status FileWriter::Commit() {
  // Not every file system can sync.
  const bool is_synced =
      fsync(descriptor_) == 0 || errno == EINVAL || errno == EROFS;
  if (!is_synced) return FileError(path_, "cannot write", errno);
  // Some network file systems report a full disk only here.
  if (close(std::exchange(descriptor_, -1)) != 0) {
    return FileError(path_, "cannot write", errno);
  }
  if (rename(temporary_.c_str(), target_.c_str()) != 0) {
    return FileError(path_, "cannot create", errno);
  }
  temporary_.clear();
  return absl::OkStatus();
}

absl::Status WriteWholeFile(absl::string_view path,
                            absl::Span<const absl::string_view> pieces) {
  DOGGED_ASSIGN_OR_RETURN(FileWriter file, FileWriter::Create(path));
  for (const absl::string_view piece : pieces) {
    DOGGED_RETURN_IF_ERROR(file.Append(piece));
  }
  return file.Commit();
}

absl::StatusOr<InputFile> InputFile::Open(absl::string_view path) {
  const std::string name(path);
  // O_NONBLOCK: opening a pipe that nobody writes to must not wait.
  const int descriptor = open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return FileError(path, "cannot open", errno);
  struct stat status = {};
  if (fstat(descriptor, &status) != 0) {
    const int system_error = errno;
    close(descriptor);
    return FileError(path, "cannot read", system_error);
  }
  InputFile file(path, descriptor, status.st_size);
  if (S_ISDIR(status.st_mode)) return FileError(path, "cannot read", EISDIR);
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": is a device or pipe; write the data to a file first"));
  }
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      position_(other.position_) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status InputFile::Read(absl::Span<char> out) {
  while (!out.empty()) {
    const ssize_t got = read(descriptor_, out.data(), out.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(path_, "cannot read", errno);
    if (got == 0) {
      return absl::DataLossError(absl::StrCat(
          path_, ": ended ", out.size(), " bytes early; is it being written?"));
    }
    position_ += got;
    out.remove_prefix(static_cast<size_t>(got));
  }
  return absl::OkStatus();
}

}  // namespace dogged

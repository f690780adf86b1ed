// Files that people read and write: whole or not at all. Errors name the file
// and have the system's words. Not for frequent writes: each file is synced.
// Thread-compatible.
#ifndef DOGGED_APPS_OUTPUT_FILE_H_
#define DOGGED_APPS_OUTPUT_FILE_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace dogged {

// "PATH: WHAT: the system's words". No space, over quota, too large for the
// file system, no descriptor or no memory is kResourceExhausted; no permission
// kPermissionDenied; absent kNotFound; anything else is kUnavailable.
absl::Status FileError(absl::string_view path, absl::string_view what,
                       int system_error);

// Where a write to `path` ends up: symbolic links followed, also to a file that
// is yet to be made. `path` itself if its links form a ring.
std::string ResolveLinks(const std::string& path);

// OK if the folder of `target`, where a write to `path` ends up, is there.
// Errors: as FileError.
absl::Status CheckFolderOf(absl::string_view path, const std::string& target);

// OK if a file could be written at `path` now: one is made beside it, and
// removed; no other file changes. Errors: as WriteWholeFile, but a full disk is
// seldom found.
absl::Status CheckWritable(absl::string_view path);

// --- files beside a target whose place they take once they are whole

// Their names begin so; digits of the writer or of the file follow.
std::string UnfinishedPrefix(const std::string& target);
// Opens a new file beside `target` that this process writes, and says its name.
// -1 with errno if that can't be.
int OpenBeside(const std::string& target, mode_t mode, std::string& name);
// Locks the open `file` as one that this process writes, which ends with the
// process. False: another process took it for stale before, and removed it.
bool MarkAsWritten(int file);

// Output that is a folder has an empty file beside the target for as long as it
// is written. The folder has the name of this file and one of these behind it:
// as it is written, and the former one, while it has no other name.
inline constexpr absl::string_view kUnfinishedFolder = "-new";
inline constexpr absl::string_view kFormerFolder = "-former";
// Removes what is there under the name of the unfinished file `name`, and then
// this file. If nothing is at `target` the former folder goes back there.
void RemoveUnfinished(const std::string& target, const std::string& name);
// Removes all of this user that a process has left which is dead, as it was
// killed. Where a file system has no locks they stay.
void RemoveStaleBeside(const std::string& target);

// FileWriter: a file that is written piece by piece, under a temporary name in
// its folder, and takes its place with Commit(), or is removed: its path holds
// all of it, on disk, or what was there before. Through a symbolic link the
// file that it names is replaced, or made.
class FileWriter {
 public:
  // Errors: as FileError; kInvalidArgument for a folder, device or pipe.
  static absl::StatusOr<FileWriter> Create(absl::string_view path);
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  ~FileWriter();

  // Errors: as FileError; the file is no good afterwards.
  absl::Status Append(absl::string_view piece);
  // Likewise, from byte `offset` on, whatever was appended.
  absl::Status WriteAt(int64_t offset, absl::string_view piece);
  // Once, last. Errors: as FileError; the file is removed then.
  absl::Status Commit();

 private:
  FileWriter(absl::string_view path, std::string target, std::string temporary,
             int descriptor)
      : path_(path),
        target_(std::move(target)),
        temporary_(std::move(temporary)),
        descriptor_(descriptor) {}
  std::string path_;       // as the user wrote it
  std::string target_;     // links followed
  std::string temporary_;  // empty: nothing is to be removed
  int descriptor_;         // -1: closed
};

// A FileWriter's life for `pieces`, one after another. Errors: as FileWriter.
absl::Status WriteWholeFile(absl::string_view path,
                            absl::Span<const absl::string_view> pieces);

// A regular file, open for reading.
class InputFile {
 public:
  // Errors: as FileError; kInvalidArgument for a folder, device or pipe.
  static absl::StatusOr<InputFile> Open(absl::string_view path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  // Bytes, when it was opened.
  int64_t size() const { return size_; }
  int descriptor() const { return descriptor_; }
  // Bytes that were read.
  int64_t position() const { return position_; }
  // Fills `out` with the next bytes. kDataLoss if the file ends before.
  absl::Status Read(absl::Span<char> out);

 private:
  InputFile(absl::string_view path, int descriptor, int64_t size)
      : path_(path), descriptor_(descriptor), size_(size) {}
  std::string path_;
  int descriptor_;
  int64_t size_;
  int64_t position_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_FILE_H_

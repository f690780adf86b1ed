// PartedOutput: an output that several processes write, each its parts, on a
// file system that they share. While it is written it has a temporary name: a
// marked file, which begins with a mark, and a file without one is nobody's to
// write. A process that finds the mark may still have a copy of its own: so it
// leaves a sign behind the mark, for the one that has made the file.
//
// Of an .npy file (PartedFile) the parts go into the marked file itself, behind
// mark and sign, which its header replaces in the end. In a folder of chunks
// (CreatePartedZarr) they go into files that are in the unfinished folder
// of the marked file (kUnfinishedFolder): "c/1/0" and the like, made before.
#ifndef DOGGED_APPS_OUTPUT_PARTED_FILE_H_
#define DOGGED_APPS_OUTPUT_PARTED_FILE_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/agent/loop/file_messages.h"
#include "runtime/base/hash.h"
#include "runtime/base/value.h"

namespace dogged {

// Bytes of mark and sign, with which a marked file begins.
inline constexpr int64_t kMarkedBytes = 128;

// The side that makes the output and gives it its name.
class PartedOutput {
 public:
  virtual ~PartedOutput() = default;
  // The place of the marked file: absolute, links followed; temporary.
  virtual const std::string& path() const = 0;
  // Whether somebody else's Sign(number) is to be seen here.
  bool HasSign(uint64_t number) const;
  // All parts are there: the output gets its name. Errors: as FileError; it is
  // removed then. kDataLoss if its temporary name is another file's.
  virtual absl::Status Commit() = 0;
};

// A marked file beside `target`, absolute, that this process has open; `path`
// is what the user calls the target. Its `name` is new. Errors: as FileError.
absl::StatusOr<int> CreateMarked(absl::string_view path,
                                 const std::string& target, mode_t mode,
                                 const Digest& mark, std::string& name);
// Errors: kDataLoss if the marked file that is open is not the one that has the
// name any more: in some folders anybody can put another one there.
absl::Status CheckIsMarked(absl::string_view path, int marked,
                           const std::string& name);
// `path` without symbolic links in its folder, from the root on.
std::string AbsolutePath(const std::string& path);

class PartedFile : public PartedOutput {
 public:
  // Room for `data_bytes` behind `header`, which has 128 bytes at least.
  // Errors: as FileWriter::Create(); kResourceExhausted without room for all of
  // it.
  static absl::StatusOr<PartedFile> Create(absl::string_view path,
                                           absl::string_view header,
                                           int64_t data_bytes,
                                           const Digest& mark);
  PartedFile(PartedFile&& other) noexcept;
  PartedFile& operator=(PartedFile&&) = delete;
  ~PartedFile() override;

  const std::string& path() const override { return temporary_; }
  absl::Status Commit() override;

 private:
  PartedFile(absl::string_view path, std::string target, std::string temporary,
             absl::string_view header, int descriptor)
      : path_(path),
        target_(std::move(target)),
        temporary_(std::move(temporary)),
        header_(header),
        descriptor_(descriptor) {}
  std::string path_;       // as the user wrote it
  std::string target_;     // links followed
  std::string temporary_;  // empty: nothing is to be removed
  std::string header_;
  int descriptor_;  // -1: closed
};

// The side of those who write parts, and read them again.
class FileParts {
 public:
  // `path` is that of a marked file, or of a file in its unfinished folder.
  //
  // Errors: kFailedPrecondition if no file with that mark is to be seen there,
  // and why.
  static absl::StatusOr<FileParts> Open(const std::string& path,
                                        const Digest& mark);
  FileParts(FileParts&& other) noexcept;
  FileParts& operator=(FileParts&&) = delete;
  ~FileParts();

  // Errors: kInvalidArgument for parts beyond the file, or of more bytes.
  absl::Status CheckAll(const std::vector<FilePart>& parts) const;
  // Writes the part of `value`, adds its numbers that are not finite to
  // `not_finite`. Returns the digest of the part's elements in C order.
  // Errors: kInvalidArgument for a part beyond the file or the value; as
  // FileError.
  absl::StatusOr<Digest> Write(const FilePart& part, const Value& value,
                               int64_t& not_finite);
  // The digest of a part as it stands in the file. Errors: likewise.
  absl::StatusOr<Digest> Read(const FilePart& part);
  // Leaves the sign, on disk. Errors: as FileError.
  absl::Status Sign(uint64_t number);
  // Errors: as FileError, for what was written as well.
  absl::Status Sync();

 private:
  FileParts(std::string path, int descriptor, int64_t bytes)
      : path_(std::move(path)), descriptor_(descriptor), bytes_(bytes) {}
  // As Open(), of the marked file alone.
  static absl::StatusOr<FileParts> OpenMarked(const std::string& path,
                                              const Digest& mark);
  // A regular file of `bytes_min` at least. Errors: kFailedPrecondition.
  static absl::StatusOr<FileParts> OpenRegular(const std::string& path,
                                               int64_t bytes_min);
  // As CheckAll(), of one part.
  absl::Status Check(const FilePart& part) const;
  std::string path_;
  int descriptor_;
  int64_t bytes_;
  int64_t begin_ = kMarkedBytes;  // parts begin here, or behind
};

// The answer to a request, once that is done.
WrittenReply WriteParts(const WriteRequest& request,
                        const std::vector<Value>& values);

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_PARTED_FILE_H_

#include "apps/output/parted_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "apps/output/file.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"
#include "runtime/graph/saturating.h"

namespace dogged {
namespace {

// The mark, and behind it the sign; all before the end of a header.
constexpr int64_t kMarkBytes = 64;
constexpr int64_t kSignBytes = 64;
static_assert(kMarkBytes + kSignBytes == kMarkedBytes);

std::string MarkOf(const Digest& mark) {
  std::string out = absl::StrCat("dogged result ", mark.ToString(), "\n");
  out.resize(kMarkBytes, ' ');
  return out;
}

std::string SignOf(uint64_t number) {
  std::string out = absl::StrCat("seen ", number);
  out.resize(kSignBytes, ' ');
  return out;
}

// Rows of a part: elements that follow one another in the value and in the
// file.
struct Rows {
  IndexVector count;  // of rows, by dimension
  int64_t row_bytes = 0;
};

// Dimensions that need no loop of their own are part of the row.
Rows RowsOf(const FilePart& part) {
  Rows out{.count = part.count, .row_bytes = part.element_bytes};
  int64_t whole = part.element_bytes;  // bytes of the value's own row
  for (int d = part.count.size() - 1; d >= 0; --d) {
    if (out.row_bytes != whole || part.stride[d] != out.row_bytes) break;
    out.row_bytes *= part.count[d];
    whole *= part.extents[d];
    out.count.pop_back();
  }
  return out;
}

// Calls visit(bytes in the value, bytes in the file) for each row.
absl::Status ForEachRow(
    const FilePart& part, const Rows& rows,
    absl::FunctionRef<absl::Status(int64_t from, int64_t to)> visit) {
  IndexVector at = rows.count;
  for (int d = 0; d < at.size(); ++d) at[d] = 0;
  while (true) {
    int64_t from = 0;
    int64_t to = part.offset;
    for (int d = 0; d < part.count.size(); ++d) {
      const int64_t i = d < at.size() ? at[d] : 0;
      from = from * part.extents[d] + part.first[d] + i;
      to += i * part.stride[d];
    }
    DOGGED_RETURN_IF_ERROR(visit(from * part.element_bytes, to));
    int d = at.size() - 1;
    while (d >= 0 && ++at[d] == rows.count[d]) at[d--] = 0;
    if (d < 0) return absl::OkStatus();
  }
}

// The part is within bytes [begin, bytes) of its file; numbers come from
// elsewhere, and may be any.
absl::Status CheckPart(const FilePart& part, int64_t begin, int64_t bytes) {
  const int rank = part.extents.size();
  bool is_sound = part.first.size() == rank && part.count.size() == rank &&
                  part.stride.size() == rank && part.element_bytes >= 1 &&
                  part.element_bytes <= 8 && part.offset >= begin;
  int64_t end = SaturatingAdd(part.offset, part.element_bytes);
  int64_t elements = part.element_bytes;
  for (int d = 0; is_sound && d < rank; ++d) {
    is_sound = part.first[d] >= 0 && part.count[d] >= 1 &&
               part.stride[d] >= part.element_bytes &&
               part.extents[d] >= part.count[d] &&
               part.first[d] <= part.extents[d] - part.count[d];
    if (!is_sound) break;
    end = SaturatingAdd(end, SaturatingMul(part.count[d] - 1, part.stride[d]));
    elements = SaturatingMul(elements, part.extents[d]);
    is_sound = end <= bytes && elements < std::numeric_limits<int64_t>::max();
  }
  if (is_sound && end <= bytes) return absl::OkStatus();
  return absl::InvalidArgumentError("a part beyond its file or its value");
}

template <typename T>
int64_t CountNotFinite(absl::string_view row) {
  const auto* const numbers = reinterpret_cast<const T*>(row.data());
  return std::count_if(numbers, numbers + row.size() / sizeof(T),
                       [](T x) { return !std::isfinite(x); });
}

int64_t NotFiniteIn(ElementType type, absl::string_view row) {
  switch (type) {
    case ElementType::kDouble:
      return CountNotFinite<double>(row);
    case ElementType::kFloat:
      return CountNotFinite<float>(row);
    case ElementType::kInt64:
      return 0;
  }
  return 0;
}

absl::Status WriteAt(int file, absl::string_view path, absl::string_view bytes,
                     int64_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(file, bytes.data(), bytes.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return FileError(path, "cannot write", n < 0 ? errno : EIO);
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += n;
  }
  return absl::OkStatus();
}

absl::Status ReadAt(int file, absl::string_view path, int64_t offset,
                    std::string& out) {
  size_t have = 0;
  while (have < out.size()) {
    const ssize_t n = pread(file, out.data() + have, out.size() - have,
                            offset + static_cast<int64_t>(have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError(path, "cannot read", errno);
    if (n == 0) return absl::DataLossError(absl::StrCat(path, ": is shorter"));
    have += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

bool IsSameFile(int one, int other) {
  struct stat first = {};
  struct stat second = {};
  return fstat(one, &first) == 0 && fstat(other, &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// The marked file of which `path` names a file in the unfinished folder: a
// chunk, "c" and numbers. None of other paths.
std::optional<std::string> MarkedFileOf(const std::string& path) {
  const std::string folder = absl::StrCat(kUnfinishedFolder, "/c");
  const size_t at = path.rfind(folder);
  if (at == std::string::npos) return std::nullopt;
  absl::string_view rest = absl::string_view(path).substr(at + folder.size());
  while (!rest.empty()) {
    if (!absl::ConsumePrefix(&rest, "/")) return std::nullopt;
    const size_t digits = std::min(rest.find('/'), rest.size());
    if (digits == 0 || !std::all_of(rest.begin(), rest.begin() + digits,
                                    absl::ascii_isdigit)) {
      return std::nullopt;
    }
    rest.remove_prefix(digits);
  }
  return path.substr(0, at);
}

}  // namespace

std::string AbsolutePath(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::unique_ptr<char, void (*)(void*)> real(
      realpath(folder.c_str(), nullptr), std::free);
  const std::string name =
      slash == std::string::npos ? path : path.substr(slash + 1);
  return absl::StrCat(real == nullptr ? folder : real.get(), "/", name);
}

absl::StatusOr<int> CreateMarked(absl::string_view path,
                                 const std::string& target, mode_t mode,
                                 const Digest& mark, std::string& name) {
  name = absl::StrCat(UnfinishedPrefix(target), mark.ToString().substr(0, 12));
  const int file = open(
      name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (file < 0) return FileError(path, "cannot create", errno);
  const auto failed = [&](const absl::Status& status) {
    close(file);
    unlink(name.c_str());
    return status;
  };
  if (!MarkAsWritten(file)) {
    return failed(FileError(path, "cannot create", EAGAIN));
  }
  std::string begin = MarkOf(mark);
  begin.resize(kMarkedBytes, ' ');
  const absl::Status written = WriteAt(file, path, begin, 0);
  if (!written.ok()) return failed(written);
  if (fsync(file) != 0) return failed(FileError(path, "cannot write", errno));
  return file;
}

absl::Status CheckIsMarked(absl::string_view path, int marked,
                           const std::string& name) {
  const int again = open(name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (again < 0) return FileError(path, "cannot write", errno);
  const bool is_ours = IsSameFile(marked, again);
  close(again);
  if (is_ours) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(path, ": somebody has put another file in its place"));
}

// Opened anew: a network file system looks at the file again only then.
bool PartedOutput::HasSign(uint64_t number) const {
  const int file = open(path().c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::string found(kSignBytes, '\0');
  const absl::Status read = ReadAt(file, path(), kMarkBytes, found);
  close(file);
  return read.ok() && found == SignOf(number);
}

absl::StatusOr<PartedFile> PartedFile::Create(absl::string_view path,
                                              absl::string_view header,
                                              int64_t data_bytes,
                                              const Digest& mark) {
  DOGGED_CHECK(std::ssize(header) >= kMarkBytes + kSignBytes)
      << "a header of " << header.size() << " bytes";
  DOGGED_RETURN_IF_ERROR(CheckWritable(path));
  std::string target = AbsolutePath(ResolveLinks(std::string(path)));
  struct stat status = {};
  const bool is_there = stat(target.c_str(), &status) == 0;
  RemoveStaleBeside(target);
  // Agents may run as other users of the file's group.
  const mode_t mode = is_there ? status.st_mode & 07777 : 0666;
  std::string temporary;
  DOGGED_ASSIGN_OR_RETURN(const int file,
                          CreateMarked(path, target, mode, mark, temporary));
  PartedFile out(path, std::move(target), std::move(temporary), header, file);
  const int64_t bytes = std::ssize(header) + data_bytes;
  // A full disk is found before anybody writes, where the file system can tell.
  const int room = posix_fallocate(file, 0, bytes);
  if (room != 0 && room != EINVAL && room != EOPNOTSUPP) {
    return FileError(path, "cannot write", room);
  }
  if (ftruncate(file, bytes) != 0) {
    return FileError(path, "cannot write", errno);
  }
  if (fsync(file) != 0) return FileError(path, "cannot write", errno);
  return out;
}

PartedFile::PartedFile(PartedFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, "")),
      header_(std::move(other.header_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

PartedFile::~PartedFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status PartedFile::Commit() {
  // Likewise: others have written beside the header. It must be the same file:
  // in some folders anybody can put another one there.
  const int again = open(temporary_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (again < 0) return FileError(path_, "cannot write", errno);
  const bool is_ours = IsSameFile(descriptor_, again);
  close(std::exchange(descriptor_, again));
  (void)MarkAsWritten(descriptor_);
  if (!is_ours) {
    temporary_.clear();  // not ours to remove
    return absl::DataLossError(
        absl::StrCat(path_, ": somebody has put another file in its place"));
  }
  DOGGED_RETURN_IF_ERROR(WriteAt(descriptor_, path_, header_, 0));
  if (fsync(descriptor_) != 0) return FileError(path_, "cannot write", errno);
  if (close(std::exchange(descriptor_, -1)) != 0) {
    return FileError(path_, "cannot write", errno);
  }
  if (rename(temporary_.c_str(), target_.c_str()) != 0) {
    return FileError(path_, "cannot replace", errno);
  }
  temporary_.clear();
  return absl::OkStatus();
}

absl::StatusOr<FileParts> FileParts::OpenRegular(const std::string& path,
                                                 int64_t bytes_min) {
  const int file = open(
      path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": ", std::generic_category().message(errno)));
  }
  struct stat status = {};
  FileParts out(path, file, 0);
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size < bytes_min) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is no result file"));
  }
  out.bytes_ = status.st_size;
  return out;
}

absl::StatusOr<FileParts> FileParts::OpenMarked(const std::string& path,
                                                const Digest& mark) {
  DOGGED_ASSIGN_OR_RETURN(FileParts out, OpenRegular(path, kMarkedBytes));
  std::string found(kMarkBytes, '\0');
  const absl::Status read = ReadAt(out.descriptor_, path, 0, found);
  if (read.ok() && found == MarkOf(mark)) return out;
  return absl::FailedPreconditionError(absl::StrCat(
      path, ": ", read.ok() ? "is another file there" : read.message()));
}

absl::StatusOr<FileParts> FileParts::Open(const std::string& path,
                                          const Digest& mark) {
  const std::optional<std::string> marked = MarkedFileOf(path);
  if (!marked.has_value()) return OpenMarked(path, mark);
  DOGGED_RETURN_IF_ERROR(OpenMarked(*marked, mark).status());
  DOGGED_ASSIGN_OR_RETURN(FileParts out, OpenRegular(path, 0));
  out.begin_ = 0;
  return out;
}

absl::Status FileParts::Check(const FilePart& part) const {
  return CheckPart(part, begin_, bytes_);
}

FileParts::FileParts(FileParts&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(other.bytes_),
      begin_(other.begin_) {}

FileParts::~FileParts() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status FileParts::CheckAll(const std::vector<FilePart>& parts) const {
  int64_t all = 0;
  for (const FilePart& part : parts) {
    DOGGED_RETURN_IF_ERROR(Check(part));
    int64_t bytes = part.element_bytes;
    for (const int64_t n : part.count) bytes = SaturatingMul(bytes, n);
    all = SaturatingAdd(all, bytes);
  }
  if (all <= bytes_) return absl::OkStatus();
  return absl::InvalidArgumentError("parts that overlap");
}

absl::StatusOr<Digest> FileParts::Write(const FilePart& part,
                                        const Value& value,
                                        int64_t& not_finite) {
  DOGGED_RETURN_IF_ERROR(Check(part));
  if (value.IsNone() || value.IsSpilled() ||
      ElementBytes(value.type()) != part.element_bytes ||
      value.element_count() != ElementCount(part.extents)) {
    return absl::InvalidArgumentError("a part of another value");
  }
  const Rows rows = RowsOf(part);
  DigestStream digest;
  DOGGED_RETURN_IF_ERROR(ForEachRow(part, rows, [&](int64_t from, int64_t to) {
    const absl::string_view row = value.view().substr(
        static_cast<size_t>(from), static_cast<size_t>(rows.row_bytes));
    digest.Add(row);
    not_finite += NotFiniteIn(value.type(), row);
    return WriteAt(descriptor_, path_, row, to);
  }));
  return digest.Finish();
}

absl::StatusOr<Digest> FileParts::Read(const FilePart& part) {
  constexpr int64_t kReadMax = 1 << 20;
  DOGGED_RETURN_IF_ERROR(Check(part));
  const Rows rows = RowsOf(part);
  DigestStream digest;
  std::string piece;
  const auto read = [&](int64_t, int64_t to) -> absl::Status {
    for (int64_t done = 0; done < rows.row_bytes; done += std::ssize(piece)) {
      piece.resize(
          static_cast<size_t>(std::min(kReadMax, rows.row_bytes - done)));
      DOGGED_RETURN_IF_ERROR(ReadAt(descriptor_, path_, to + done, piece));
      digest.Add(piece);
    }
    return absl::OkStatus();
  };
  DOGGED_RETURN_IF_ERROR(ForEachRow(part, rows, read));
  return digest.Finish();
}

absl::Status FileParts::Sign(uint64_t number) {
  if (begin_ < kMarkedBytes) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": has no mark"));
  }
  DOGGED_RETURN_IF_ERROR(
      WriteAt(descriptor_, path_, SignOf(number), kMarkBytes));
  return Sync();
}

absl::Status FileParts::Sync() {
  if (fdatasync(descriptor_) != 0) {
    return FileError(path_, "cannot write", errno);
  }
  return absl::OkStatus();
}

WrittenReply WriteParts(const WriteRequest& request,
                        const std::vector<Value>& values) {
  WrittenReply out{.number = request.number, .status = {}, .digests = {}};
  const auto run = [&]() -> absl::Status {
    DOGGED_ASSIGN_OR_RETURN(FileParts file,
                            FileParts::Open(request.path, request.mark));
    if (request.parts.empty()) return file.Sign(request.number);
    DOGGED_RETURN_IF_ERROR(file.CheckAll(request.parts));
    for (size_t i = 0; i < request.parts.size(); ++i) {
      if (request.digests.empty()) {
        DOGGED_ASSIGN_OR_RETURN(
            const Digest digest,
            file.Write(request.parts[i], values[i], out.not_finite));
        out.digests.push_back(digest);
        continue;
      }
      DOGGED_ASSIGN_OR_RETURN(const Digest digest, file.Read(request.parts[i]));
      if (digest == request.digests[i]) continue;
      return absl::DataLossError(absl::StrCat(
          request.path, ": a part reads otherwise than it was written"));
    }
    return request.digests.empty() ? file.Sync() : absl::OkStatus();
  };
  out.status = run();
  return out;
}

}  // namespace dogged

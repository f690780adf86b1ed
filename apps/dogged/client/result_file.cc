#include "apps/dogged/client/result_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "apps/output/file.h"
#include "apps/output/mapped_value.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr int64_t kAlignment = 64;  // of values in the file

// A file without a name in `folder`; -1: there is none.
int OpenNameless(const std::string& folder) {
  const int file = open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  // Not every file system knows such files.
  std::string name = absl::StrCat(folder, "/.results-XXXXXX");
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

}  // namespace

ResultFile::~ResultFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status ResultFile::Open() {
  absl::Status status = absl::UnavailableError("there is no folder");
  for (const std::string& folder : folders_) {
    descriptor_ = OpenNameless(folder);
    if (descriptor_ >= 0) {
      folder_ = folder;
      return absl::OkStatus();
    }
    status = FileError(folder, "cannot create a file for results", errno);
  }
  return status;
}

absl::Status ResultFile::Put(const Label& label, const Value& value) {
  if (descriptor_ < 0) DOGGED_RETURN_IF_ERROR(Open());
  absl::string_view rest = value.view();
  int64_t at = bytes_;
  while (!rest.empty()) {
    const ssize_t written = pwrite(descriptor_, rest.data(), rest.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return FileError(folder_, "cannot write results", errno);
    }
    at += written;
    rest.remove_prefix(static_cast<size_t>(written));
  }
  offsets_.emplace(label, bytes_);
  bytes_ = (at + kAlignment - 1) / kAlignment * kAlignment;
  return absl::OkStatus();
}

absl::StatusOr<Value> ResultFile::Read(const Label& label,
                                       const Value& spilled) const {
  int64_t at = offsets_.at(label);
  const Digest digest = spilled.digest();
  const Value mapped =
      MapValue(descriptor_, at, spilled.type(), spilled.shape(), &digest);
  if (!mapped.IsNone()) return mapped;
  Value value = Value::Allocate(spilled.type(), spilled.shape());
  absl::Span<char> rest = value.mutable_span<char>();
  while (!rest.empty()) {
    const ssize_t got = pread(descriptor_, rest.data(), rest.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    at += got;
    rest.remove_prefix(static_cast<size_t>(got));
  }
  value.Seal();
  if (!rest.empty() || value.digest() != digest) {
    return absl::DataLossError(
        absl::StrCat(folder_,
                     ": a file of results there gives other bytes than it was "
                     "given; is that disk sound?"));
  }
  return value;
}

}  // namespace dogged

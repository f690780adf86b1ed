#include "apps/dogged/process/text_file.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "apps/output/file.h"

namespace dogged {
namespace {

constexpr size_t kTextBytesMax = size_t{16} << 20;

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     absl::string_view what) {
  // Looked at first: to open a pipe is to wait for it.
  std::error_code error;
  const std::filesystem::file_status kind =
      std::filesystem::status(path, error);
  if (std::filesystem::exists(kind) &&
      !std::filesystem::is_regular_file(kind)) {
    return absl::NotFoundError(
        absl::StrCat(path, ": is no file; give the path of a ", what));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  // Piece by piece: most are small, and pages cost time.
  std::string text;
  std::array<char, size_t{1} << 16> piece;
  do {
    file.read(piece.data(), piece.size());
    text.append(piece.data(), static_cast<size_t>(file.gcount()));
  } while (file && text.size() <= kTextBytesMax);
  if (!file.is_open() || file.bad()) {
    const absl::Status failure =
        FileError(path, "can't be read", errno != 0 ? errno : EIO);
    if (absl::IsResourceExhausted(failure)) return failure;
    return absl::NotFoundError(failure.message());
  }
  if (text.size() > kTextBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is larger than ", kTextBytesMax >> 20,
                     " MB, which no ", what, " is; is the path right?"));
  }
  // Some editors of Windows begin a text with this mark.
  if (absl::StartsWith(text, "\xef\xbb\xbf")) text.erase(0, 3);
  return text;
}

absl::StatusOr<std::string> ReadText(const std::string& path) {
  return ReadFile(path, "program text");
}

}  // namespace dogged

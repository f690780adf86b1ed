#include "apps/dogged/rendezvous/pool_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "apps/output/file.h"
#include "routing/control/socket_address.h"

namespace dogged {
namespace {

constexpr absl::string_view kSuffix = ".agent";
constexpr absl::string_view kTemporarySuffix = ".agent.new";
constexpr size_t kIdDigits = 16;
// Bounds of an entry, and of entries: nobody fills our memory.
constexpr size_t kEntryBytesMax = 1024;
constexpr size_t kEntriesMax = 10'000;
// A temporary file that is older was left by a killed agent.
constexpr absl::Duration kTemporaryAgeMax = absl::Minutes(1);

bool IsNameOf(absl::string_view name, absl::string_view suffix) {
  if (!absl::ConsumeSuffix(&name, suffix)) return false;
  return name.size() == kIdDigits &&
         std::all_of(name.begin(), name.end(), [](unsigned char digit) {
           return std::isxdigit(digit) != 0;
         });
}

// False if there is no such file any more.
bool ReadTime(const std::filesystem::path& place, absl::Time& when) {
  struct stat status = {};
  if (lstat(place.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return false;
  }
  when = absl::TimeFromTimespec(status.st_mtim);
  return true;
}

// A plain file, opened to be read: nothing else, and not by a link.
class PlainFile {
 public:
  explicit PlainFile(const std::filesystem::path& place)
      : fd_(open(place.c_str(),
                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) {
    struct stat status = {};
    is_plain_ = fd_ >= 0 && fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
  }
  ~PlainFile() {
    if (fd_ >= 0) close(fd_);
  }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  std::string Read() const {
    std::string text(kEntryBytesMax, '\0');
    const ssize_t size = is_plain_ ? read(fd_, text.data(), text.size()) : 0;
    text.resize(std::max<ssize_t>(0, size));
    return text;
  }
  bool Touch() const { return is_plain_ && futimens(fd_, nullptr) == 0; }

 private:
  const int fd_;
  bool is_plain_ = false;
};

std::string TextOf(const PoolEntry& entry) {
  std::string text =
      absl::StrCat("address ", entry.address, "\nhost ", entry.host, "\n");
  if (!entry.keys.empty()) {
    absl::StrAppend(&text, "keys ", absl::StrJoin(entry.keys, " "), "\n");
  }
  return text;
}

PoolEntry ParseEntry(const std::filesystem::path& place) {
  const std::string text = PlainFile(place).Read();
  PoolEntry out{.name = place.filename().string()};
  // It comes to people's eyes, at terminals.
  const bool is_text = std::all_of(text.begin(), text.end(), [](char c) {
    return c == '\n' || absl::ascii_isprint(static_cast<unsigned char>(c));
  });
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!is_text) break;
    if (absl::ConsumePrefix(&line, "address ")) {
      out.address = std::string(line);
    } else if (absl::ConsumePrefix(&line, "host ")) {
      out.host = std::string(line);
    } else if (absl::ConsumePrefix(&line, "keys ")) {
      out.keys = absl::StrSplit(line, ' ', absl::SkipEmpty());
    }
  }
  out.is_whole = IsNumeric(out.address);
  return out;
}

absl::Status SystemError(const std::filesystem::path& place,
                         absl::string_view what, int error) {
  return absl::UnavailableError(
      FileError(place.string(), what, error).message());
}

}  // namespace

std::string PoolFolder::NameOf(AgentId agent) {
  return absl::StrCat(absl::Hex(agent.value(), absl::kZeroPad16), kSuffix);
}

std::filesystem::path PoolFolder::Place(absl::string_view name) const {
  return std::filesystem::path(path_) / std::string(name);
}

absl::Status PoolFolder::Prepare() const {
  if (mkdir(path_.c_str(), 0777) != 0 && errno != EEXIST) {
    return absl::InvalidArgumentError(absl::StrCat(
        FileError(path_, "cannot make this folder", errno).message(),
        "; make it, where all agents and clients see it"));
  }
  const absl::Status writable = CheckWritable(Place("any").string());
  if (writable.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path_, ": an agent can't write its address there (", writable.message(),
      "); give its user the right to, or name another folder"));
}

absl::Status PoolFolder::Write(AgentId agent, const PoolEntry& entry) const {
  const std::filesystem::path place = Place(NameOf(agent));
  const std::filesystem::path partial = place.string() + ".new";
  (void)mkdir(path_.c_str(), 0777);  // somebody may have removed it
  // Never a file that is there, nor by a link.
  (void)unlink(partial.c_str());
  const int fd =
      open(partial.c_str(),
           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return SystemError(partial, "cannot write", errno);
  const std::string text = TextOf(entry);
  errno = 0;
  const bool is_written =
      write(fd, text.data(), text.size()) == std::ssize(text) && close(fd) == 0;
  if (!is_written) return SystemError(partial, "cannot write", errno);
  if (std::rename(partial.c_str(), place.c_str()) != 0) {
    return SystemError(place, "cannot write", errno);
  }
  return absl::OkStatus();
}

bool PoolFolder::Freshen(AgentId agent, const PoolEntry& entry) const {
  const PlainFile file(Place(NameOf(agent)));
  return file.Read() == TextOf(entry) && file.Touch();
}

void PoolFolder::Remove(absl::string_view name) const {
  (void)unlink(Place(name).c_str());
}

absl::StatusOr<std::vector<PoolEntry>> PoolFolder::Read(AgentId reader) const {
  std::error_code error;
  std::filesystem::directory_iterator files(path_, error);
  std::vector<std::pair<absl::Time, std::filesystem::path>> found;
  std::vector<std::pair<absl::Time, std::filesystem::path>> temporary;
  for (const std::filesystem::directory_iterator end;
       !error && files != end && found.size() < kEntriesMax;
       files.increment(error)) {
    const std::string name = files->path().filename().string();
    absl::Time when;
    if (IsNameOf(name, kSuffix)) {
      if (ReadTime(files->path(), when))
        found.emplace_back(when, files->path());
    } else if (IsNameOf(name, kTemporarySuffix)) {
      if (ReadTime(files->path(), when))
        temporary.emplace_back(when, files->path());
    }
  }
  if (error) return SystemError(path_, "cannot read", error.value());
  std::sort(found.rbegin(), found.rend());
  absl::Time now = absl::InfinitePast();
  for (const auto& [when, place] : found) {
    if (place.filename() == NameOf(reader)) now = when;
  }
  std::vector<PoolEntry> out;
  absl::flat_hash_set<std::string> known;
  for (const auto& [when, place] : found) {
    PoolEntry& entry = out.emplace_back(ParseEntry(place));
    entry.age = std::max(absl::ZeroDuration(), now - when);
    const auto address =
        entry.is_whole ? ResolveAddress(entry.address) : absl::UnknownError("");
    if (!address.ok()) continue;
    // A port of loopback is another one on each host.
    const std::string where =
        address->IsLoopback() ? absl::StrCat(entry.host, " ") : "";
    entry.is_whole = known.insert(where + entry.address).second;
  }
  for (const auto& [when, place] : temporary) {
    if (now - when > kTemporaryAgeMax) {
      Remove(place.filename().string());
    }
  }
  return out;
}

}  // namespace dogged

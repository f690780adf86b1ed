#include "routing/memory/shared_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace dogged {
namespace {

// The first page says what this is.
struct Header {
  char magic[8];
  uint64_t token;
  int64_t bytes;
};
constexpr char kFileMagic[8] = {'d', 'g', 'd', 'a', 'r', 'n', 'a', '1'};
constexpr int64_t kHeaderBytes = SharedFile::kHeaderBytes;
constexpr int64_t kPageBytes = 4096;
constexpr int64_t kHugeBytes = 2 << 20;
constexpr int kCollapse = 25;  // MADV_COLLAPSE, which glibc does not have yet
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::string ReadLink(const char* path) {
  char text[256] = "";
  return readlink(path, text, sizeof(text) - 1) > 0 ? text : "";
}

// The kernel and its PID namespace: a PID means the same process to all
// processes that agree on both.
std::string PidSpace() {
  char boot[64] = "";
  const Descriptor file(
      open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 || read(file.get(), boot, sizeof(boot) - 1) < 36)
    return "";
  boot[36] = '\0';
  const std::string space = ReadLink("/proc/self/ns/pid");
  return space.empty() ? "" : absl::StrCat(boot, "/", space);
}

struct FileAddress {
  std::string space;
  int64_t pid = 0;
  int64_t fd = 0;
  uint64_t inode = 0;
  int64_t bytes = 0;
  uint64_t token = 0;

  std::string ToString() const {
    return absl::StrCat(space, ",", pid, ",", fd, ",", inode, ",", bytes, ",",
                        token);
  }
  static std::optional<FileAddress> Parse(absl::string_view text) {
    const std::vector<absl::string_view> words = absl::StrSplit(text, ',');
    FileAddress out;
    if (words.size() != 6 || !absl::SimpleAtoi(words[1], &out.pid) ||
        !absl::SimpleAtoi(words[2], &out.fd) ||
        !absl::SimpleAtoi(words[3], &out.inode) ||
        !absl::SimpleAtoi(words[4], &out.bytes) ||
        !absl::SimpleAtoi(words[5], &out.token) || out.pid <= 0 || out.fd < 0 ||
        out.bytes <= kHeaderBytes) {
      return std::nullopt;
    }
    out.space = std::string(words[0]);
    return out;
  }
};

int OpenProcess(int64_t pid) {
  return static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
}

// When a process began, in the kernel's ticks: with its PID the name of it. 0:
// there is none; nullopt: this can't be found out now.
std::optional<uint64_t> StartOf(int64_t pid) {
  const Descriptor file(
      open(absl::StrCat("/proc/", pid, "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 && errno != ENOENT && errno != ESRCH) return std::nullopt;
  char text[1024] = "";
  if (file.get() < 0 || read(file.get(), text, sizeof(text) - 1) <= 0) return 0;
  // Behind the name, which may hold anything, from the third on.
  const char* const name_end = std::strrchr(text, ')');
  if (name_end == nullptr) return 0;
  const std::vector<absl::string_view> words =
      absl::StrSplit(name_end + 1, ' ', absl::SkipEmpty());
  constexpr size_t kStart = 22 - 3;
  uint64_t out = 0;
  if (words.size() <= kStart || !absl::SimpleAtoi(words[kStart], &out))
    return 0;
  return out;
}

// Maps a file so that its huge pages can be mapped as such; null if it can't
// be.
void* MapFile(int fd, int64_t bytes, int protection) {
  const auto size = static_cast<size_t>(bytes);
  void* const reserved =
      mmap(nullptr, size + kHugeBytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return nullptr;
  char* const first = static_cast<char*>(reserved);
  const size_t before =
      (kHugeBytes - reinterpret_cast<uintptr_t>(first) % kHugeBytes) %
      kHugeBytes;
  void* const memory = mmap(first + before, size, protection,
                            MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0);
  if (memory == MAP_FAILED) {
    munmap(first, size + kHugeBytes);
    return nullptr;
  }
  const size_t end = (before + size + kPageBytes - 1) / kPageBytes * kPageBytes;
  if (before > 0) munmap(first, before);
  munmap(first + end, size + kHugeBytes - end);
  return memory;
}

absl::Status Foreign(absl::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat("shared memory: ", what));
}

}  // namespace

std::unique_ptr<SharedFile> SharedFile::Create(int64_t bytes, uint64_t token) {
  if (bytes == 0) bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  rlimit addresses{};
  // A user that bounds addresses means to bound memory.
  if (getrlimit(RLIMIT_AS, &addresses) != 0 ||
      addresses.rlim_cur != RLIM_INFINITY || PidSpace().empty()) {
    return nullptr;
  }
  const int fd = memfd_create("dogged-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return nullptr;
  void* memory = nullptr;
  if (ftruncate(fd, bytes) == 0 && fcntl(fd, F_ADD_SEALS, kSeals) == 0) {
    memory = MapFile(fd, bytes, PROT_READ | PROT_WRITE);
  }
  const Descriptor self(OpenProcess(getpid()));  // peers need that to work
  if (memory == nullptr || self.get() < 0) {
    if (memory != nullptr) munmap(memory, bytes);
    close(fd);
    return nullptr;
  }
  return std::unique_ptr<SharedFile>(
      new SharedFile(fd, static_cast<char*>(memory), bytes, token));
}

SharedFile::SharedFile(int fd, char* memory, int64_t bytes, uint64_t token)
    : fd_(fd), memory_(memory), bytes_(bytes) {
  Header header{.magic = {}, .token = token, .bytes = bytes};
  std::memcpy(header.magic, kFileMagic, sizeof(kFileMagic));
  std::memcpy(memory, &header, sizeof(header));
  struct stat status {};
  fstat(fd, &status);
  address_ = FileAddress{.space = PidSpace(),
                         .pid = getpid(),
                         .fd = fd,
                         .inode = status.st_ino,
                         .bytes = bytes,
                         .token = token}
                 .ToString();
}

SharedFile::~SharedFile() {
  munmap(memory_, bytes_);
  close(fd_);
}

void SharedFile::UseHugePages() {
  (void)madvise(memory_, bytes_, MADV_HUGEPAGE);
  places_ = std::vector<std::atomic<Place>>(bytes_ / kHugeBytes);
}

// Linux gives shared memory no huge pages unless it is set to, but collapses
// small pages on request. A small page must be there; the call adds the rest
// and keeps the contents. (madvise(2), MADV_COLLAPSE)
bool SharedFile::MakeHuge(int64_t place) {
  std::atomic<Place>& state = places_[place];
  Place seen = Place::kUntried;
  if (state.compare_exchange_strong(seen, Place::kInWork)) {
    const int64_t offset = place * kHugeBytes;
    const bool is_huge =
        fallocate(fd_, FALLOC_FL_KEEP_SIZE, offset, kPageBytes) == 0 &&
        madvise(memory_ + offset, kHugeBytes, kCollapse) == 0;
    seen = is_huge ? Place::kHuge : Place::kRefused;
    state.store(seen);
    state.notify_all();
    return is_huge;
  }
  // Page faults there meanwhile would only slow the collapse down.
  while (seen == Place::kInWork) {
    state.wait(seen);
    seen = state.load();
  }
  return seen == Place::kHuge;
}

bool SharedFile::MakeAllHuge(int64_t first, int64_t end) {
  const auto places = std::ssize(places_);
  bool all = end <= places * kHugeBytes;
  for (int64_t place = first / kHugeBytes;
       place < places && place * kHugeBytes < end; ++place) {
    if (!MakeHuge(place)) all = false;
  }
  return all;
}

void SharedFile::Populate(int64_t offset, int64_t bytes) {
  const int64_t first = offset / kPageBytes * kPageBytes;
  const int64_t end =
      (offset + bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  if (MakeAllHuge(first, end)) return;
  (void)madvise(memory_ + first, end - first, MADV_POPULATE_WRITE);
}

void SharedFile::Punch(int64_t offset, int64_t bytes) {
  const int64_t first = (offset + kPageBytes - 1) / kPageBytes * kPageBytes;
  const int64_t end = (offset + bytes) / kPageBytes * kPageBytes;
  if (first >= end) return;
  (void)!fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, first,
                   end - first);
  for (int64_t place = first / kHugeBytes;
       place < std::ssize(places_) && place * kHugeBytes < end; ++place) {
    std::atomic<Place>& state = places_[place];
    if (first <= place * kHugeBytes && (place + 1) * kHugeBytes <= end) {
      state.store(Place::kUntried);
      continue;
    }
    // A part of a huge page splits it; to make it whole again would copy the
    // rest for the sake of a few pages.
    Place was = Place::kHuge;
    state.compare_exchange_strong(was, Place::kRefused);
  }
}

absl::StatusOr<std::unique_ptr<PeerFile>> PeerFile::Map(
    absl::string_view address) {
  const std::optional<FileAddress> at = FileAddress::Parse(address);
  if (!at.has_value() || at->space != PidSpace()) return Foreign("elsewhere");
  // The process first: as long as it has not ended, its PID is its own, and so
  // are the descriptors found under the PID.
  const std::optional<uint64_t> start = StartOf(at->pid);
  if (!start.has_value() || *start == 0) return Foreign("no such process");
  const std::string path = absl::StrCat("/proc/", at->pid, "/fd/", at->fd);
  struct stat status {};
  const auto is_it = [&] {
    return S_ISREG(status.st_mode) && status.st_ino == at->inode &&
           status.st_size == at->bytes;
  };
  // To open a file that is not plain could have effects.
  if (stat(path.c_str(), &status) != 0 || !is_it()) return Foreign("not there");
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0 || fstat(file.get(), &status) != 0 || !is_it() ||
      (fcntl(file.get(), F_GET_SEALS) & kSeals) != kSeals) {
    return Foreign("can't be read");
  }
  void* const memory = MapFile(file.get(), at->bytes, PROT_READ);
  if (memory == nullptr) return Foreign(std::strerror(errno));
  // As its owner may have them.
  (void)madvise(memory, at->bytes, MADV_HUGEPAGE);
  std::unique_ptr<PeerFile> out(new PeerFile(static_cast<const char*>(memory),
                                             at->bytes, at->pid, *start));
  Header header{};
  std::memcpy(&header, memory, sizeof(header));
  if (std::memcmp(header.magic, kFileMagic, sizeof(kFileMagic)) != 0 ||
      header.token != at->token || header.bytes != at->bytes ||
      out->HasEnded()) {
    return Foreign("another's");
  }
  return out;
}

PeerFile::~PeerFile() { munmap(const_cast<char*>(memory_), bytes_); }

bool PeerFile::HasEnded() const {
  // Before the look at its start, lest that be another's.
  const Descriptor process(OpenProcess(pid_));
  if (process.get() < 0) return errno == ESRCH;
  const std::optional<uint64_t> start = StartOf(pid_);
  if (!start.has_value()) return false;
  if (*start != start_) return true;
  pollfd waiting{.fd = process.get(), .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, 0) == 1;
}

int PeerFile::OpenPipe(int64_t fd) const {
  const std::string path = absl::StrCat("/proc/", pid_, "/fd/", fd);
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode)) return -1;
  Descriptor out(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
  if (out.get() < 0 || fstat(out.get(), &status) != 0 ||
      !S_ISFIFO(status.st_mode) || HasEnded()) {
    return -1;
  }
  return out.Release();
}

}  // namespace dogged

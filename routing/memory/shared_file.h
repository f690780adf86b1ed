// SharedFile: memory of this process that others of its user, on this host and
// in this PID namespace, may map for reading. A memfd: it has no name, is
// sealed against shrinking, so that a mapping never faults, and its pages live
// as long as any process maps them. The adapter to mmap and /proc.
#ifndef DOGGED_ROUTING_MEMORY_SHARED_FILE_H_
#define DOGGED_ROUTING_MEMORY_SHARED_FILE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/arena_memory.h"

namespace dogged {

class SharedFile : public AddressRange {
 public:
  // The first bytes mark it as an arena.
  static constexpr int64_t kHeaderBytes = 4096;

  // `bytes` of addresses, 0: as much as this computer has memory; pages are
  // taken when they are first written. `token` distinguishes it from all
  // others. Null if it can't be made here.
  static std::unique_ptr<SharedFile> Create(int64_t bytes, uint64_t token);
  ~SharedFile() override;
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  char* memory() const override { return memory_; }
  int64_t bytes() const override { return bytes_; }
  // Where others find it: boot and PID namespace, PID, descriptor, inode,
  // bytes and token, with commas.
  const std::string& address() const { return address_; }
  // Populate() takes huge pages from now on, where the system has them: Linux
  // from 6.1, unless /sys/kernel/mm/transparent_hugepage/shmem_enabled says
  // `deny`. Not beside other calls.
  void UseHugePages();
  // All at once: two thirds of the time of a fault for each.
  void Populate(int64_t offset, int64_t bytes) override;
  void Punch(int64_t offset, int64_t bytes) override;

 private:
  // State of a place for a huge page.
  enum class Place : uint8_t { kUntried, kInWork, kHuge, kRefused };

  SharedFile(int fd, char* memory, int64_t bytes, uint64_t token);
  // Makes the page at a place a huge one, once. False if it is none.
  bool MakeHuge(int64_t place);
  // Does so with all places of these pages; true if they lie in huge ones now.
  bool MakeAllHuge(int64_t first, int64_t end);

  const int fd_;
  char* const memory_;
  const int64_t bytes_;
  std::string address_;
  std::vector<std::atomic<Place>> places_;  // empty: pages are small
};

// PeerFile: the SharedFile of another process, mapped for reading.
class PeerFile {
 public:
  // Errors: kFailedPrecondition if it can't be mapped, now or later.
  static absl::StatusOr<std::unique_ptr<PeerFile>> Map(
      absl::string_view address);
  ~PeerFile();
  PeerFile(const PeerFile&) = delete;
  PeerFile& operator=(const PeerFile&) = delete;

  const char* memory() const { return memory_; }
  int64_t bytes() const { return bytes_; }
  // The process has ended, for certain. Some microseconds, and a descriptor
  // for as long: to keep one is dear where there are many peers.
  bool HasEnded() const;
  // Opens the writing end of a pipe that is descriptor `fd` there; -1 if it is
  // none.
  int OpenPipe(int64_t fd) const;

 private:
  PeerFile(const char* memory, int64_t bytes, int64_t pid, uint64_t start)
      : memory_(memory), bytes_(bytes), pid_(pid), start_(start) {}

  const char* const memory_;
  const int64_t bytes_;
  const int64_t pid_;
  const uint64_t start_;  // of the process, which makes the PID its own
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMORY_SHARED_FILE_H_

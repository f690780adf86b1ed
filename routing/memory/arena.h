// Arena: SharedMemory over a SharedFile.
#ifndef DOGGED_ROUTING_MEMORY_ARENA_H_
#define DOGGED_ROUTING_MEMORY_ARENA_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "routing/memory/shared_file.h"
#include "routing/memory/shared_memory.h"
#include "runtime/base/arena_memory.h"

namespace dogged {

struct ArenaOptions {
  // Size of the address range, not of memory: a page is taken when it is first
  // written. 0: as much as this computer has memory.
  int64_t bytes = 0;
  int64_t warm_bytes = 0;  // see ArenaMemory
  // Asks the system for huge pages: even a few values then take 2 MB.
  bool huge_pages = false;
  // Shorter values come from the heap, and travel inside messages.
  int64_t value_bytes_min = 8 * 1024;
  // Distinguishes this arena from all others.
  uint64_t token = 0;
};

// The arena of another process, for reading. Errors: as SharedMemory::Map(),
// but for kUnavailable.
absl::StatusOr<std::shared_ptr<PeerArena>> MapArena(absl::string_view address);

class Arena : public SharedMemory {
 public:
  // Null if it can't be made here (no memfd, limits on addresses or files):
  // then values travel as bytes.
  static std::unique_ptr<Arena> Create(const ArenaOptions& options);
  // No value of the arena is left but values kept for other processes, which
  // read on.
  ~Arena() override {
    values_.KeepPages();
    ForgetAll();
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Where values are made; outlived by this.
  ArenaMemory& values() { return values_; }

  // --- SharedMemory
  std::string address() const override { return file_->address(); }
  std::optional<int64_t> OffsetOf(const void* data) const override;
  absl::StatusOr<std::shared_ptr<PeerArena>> Map(
      absl::string_view address) override;

 private:
  Arena(std::unique_ptr<SharedFile> file, const ArenaOptions& options);

  const std::unique_ptr<SharedFile> file_;
  ArenaMemory values_;
  std::map<std::string, std::weak_ptr<PeerArena>> mapped_;  // by address
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMORY_ARENA_H_

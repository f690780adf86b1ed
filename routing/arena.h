// Arena: SharedMemory over a SharedFile.
#ifndef DOGGED_ROUTING_ARENA_H_
#define DOGGED_ROUTING_ARENA_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "routing/arena_blocks.h"
#include "routing/shared_file.h"
#include "routing/shared_memory.h"
#include "runtime/base/value_memory.h"

namespace dogged {

struct ArenaOptions {
  // Of addresses, not of memory: pages are taken when they are first written.
  // 0: as much as this computer has memory.
  int64_t bytes = 0;
  // Pages that are there before the first value: a system may take 3 us for
  // each of them, and a worker waits for that.
  int64_t warm_bytes = 0;
  // Shorter values come from the heap, and travel inside messages.
  int64_t value_bytes_min = 8 * 1024;
  // Distinguishes this arena from all others.
  uint64_t token = 0;
};

// The arena of another process, for reading. Errors: as SharedMemory::Map(),
// but for kUnavailable.
absl::StatusOr<std::shared_ptr<PeerArena>> MapArena(absl::string_view address);

class Arena : public SharedMemory, public ValueMemory {
 public:
  // Null if it can't be made here (no memfd, limits on addresses or files):
  // then values travel as bytes.
  static std::unique_ptr<Arena> Create(const ArenaOptions& options);
  // No value that came from it is left.
  ~Arena() override { ForgetAll(); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // --- ValueMemory, thread-safe
  void* Take(int64_t bytes) override;
  void Give(void* data, int64_t bytes) override;
  // Gives pages that no value uses back to the system, but for `kept` bytes.
  // Thread-safe.
  void ReturnPages(int64_t kept = 0);
  // In blocks that are in use.
  int64_t used_bytes() const;

  // --- SharedMemory
  std::string address() const override { return file_->address(); }
  std::optional<int64_t> OffsetOf(const void* data) const override;
  absl::StatusOr<std::shared_ptr<PeerArena>> Map(
      absl::string_view address) override;

 private:
  Arena(std::unique_ptr<SharedFile> file, const ArenaOptions& options);

  const std::unique_ptr<SharedFile> file_;
  const int64_t value_bytes_min_;
  std::map<std::string, std::weak_ptr<PeerArena>> mapped_;  // by address
  mutable std::mutex mutex_;
  ArenaBlocks blocks_;  // under mutex_
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_ARENA_H_

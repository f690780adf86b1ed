// ArenaMemory: values' memory in one range of addresses. Freed memory is used
// again, still warm. Pages come with the first value that lies in them, all of
// a block at once; pages of blocks without a value go back to the system.
#ifndef DOGGED_RUNTIME_BASE_ARENA_MEMORY_H_
#define DOGGED_RUNTIME_BASE_ARENA_MEMORY_H_

#include <cstdint>
#include <mutex>

#include "runtime/base/arena_blocks.h"
#include "runtime/base/value_memory.h"

namespace dogged {

// A range of addresses and its pages. Thread-safe.
class AddressRange {
 public:
  virtual ~AddressRange() = default;
  virtual char* memory() const = 0;
  virtual int64_t bytes() const = 0;
  // Takes the pages that [offset, offset + bytes) lies in. A hint.
  virtual void Populate(int64_t offset, int64_t bytes) = 0;
  // Gives the pages that lie wholly within back; they read as zeros then.
  virtual void Punch(int64_t offset, int64_t bytes) = 0;
};

// Thread-safe.
class ArenaMemory : public ValueMemory {
 public:
  struct Options {
    int64_t start = 0;  // values lie above it
    // Shorter values are refused.
    int64_t value_bytes_min = 8 * 1024;
    // Bytes of pages that are there before the first value: the system may take
    // 3 us for a page, and a worker waits for that.
    int64_t warm_bytes = 0;
  };
  // `range` outlives this, and is larger than warm_bytes.
  ArenaMemory(AddressRange& range, const Options& options);

  void* Take(int64_t bytes) override;
  void Give(void* data, int64_t bytes) override;
  // Gives pages that no value uses back to the system, but for `kept` bytes.
  void ReturnPages(int64_t kept = 0);
  // From now on none go back: the process ends, and its peers may read on in
  // pages that they have mapped.
  void KeepPages();
  // In blocks that are in use.
  int64_t used_bytes() const;

 private:
  AddressRange& range_;
  const int64_t value_bytes_min_;
  mutable std::mutex mutex_;
  ArenaBlocks blocks_;        // under mutex_
  bool keeps_pages_ = false;  // under mutex_
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_ARENA_MEMORY_H_

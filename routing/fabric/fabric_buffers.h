// Buffers of messages that libfabric receives.
#ifndef DOGGED_ROUTING_FABRIC_FABRIC_BUFFERS_H_
#define DOGGED_ROUTING_FABRIC_FABRIC_BUFFERS_H_

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/base/bytes.h"

namespace dogged {

// Buffers of one length; messages hold on to theirs, and may be let go by any
// thread, even after the transport is gone.
class BufferPool {
 public:
  struct Buffer {
    std::unique_ptr<char[]> bytes;
    int64_t filled = 0;  // so many bytes of it have had pages, at most
  };

  explicit BufferPool(int64_t buffer_bytes) : buffer_bytes_(buffer_bytes) {}
  int64_t buffer_bytes() const { return buffer_bytes_; }

  Buffer Take() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!free_.empty()) {
        Buffer buffer = std::move(free_.back());
        free_.pop_back();
        return buffer;
      }
    }
    return {.bytes = std::unique_ptr<char[]>(new char[buffer_bytes_])};
  }
  void Give(Buffer buffer) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (std::ssize(free_) < kFreeMax) free_.push_back(std::move(buffer));
  }
  // The first `size` bytes of `buffer`, which comes back to `pool` with the
  // last of its owners.
  static Bytes Wrap(std::shared_ptr<BufferPool> pool, Buffer buffer,
                    int64_t size) {
    char* const bytes = buffer.bytes.release();
    const int64_t filled = std::max(buffer.filled, size);
    std::shared_ptr<const void> owner(
        bytes, [pool = std::move(pool), filled](char* used) {
          pool->Give({std::unique_ptr<char[]>(used), filled});
        });
    return Bytes(std::move(owner),
                 absl::string_view(bytes, static_cast<size_t>(size)));
  }
  // A message longer than what agents at rest tell one another has come. By
  // the transport's thread, as IsAtRest().
  void NoteLong(absl::Time now) { long_at_ = now; }
  // None has for a while, by any connection.
  bool IsAtRest(absl::Time now) const { return now - long_at_ >= kRest; }
  // Returns memory that is kept for messages to come.
  void Trim() {
    std::lock_guard<std::mutex> lock(mutex_);
    for (Buffer& buffer : free_) ReturnPages(buffer);
    free_.clear();
  }
  // Returns the pages of `buffer`, which holds nothing.
  static void ReturnPages(Buffer& buffer) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<uintptr_t>(buffer.bytes.get());
    const uintptr_t first = (begin + page - 1) / page * page;
    const uintptr_t last =
        (begin + static_cast<uintptr_t>(buffer.filled)) / page * page;
    buffer.filled = 0;
    if (first >= last) return;
    (void)madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }

 private:
  // Fresh memory costs more than to fill it, so some is kept.
  static constexpr int kFreeMax = 8;
  static constexpr absl::Duration kRest = absl::Seconds(1);

  const int64_t buffer_bytes_;
  std::mutex mutex_;
  std::vector<Buffer> free_;
  absl::Time long_at_ = absl::InfinitePast();
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_FABRIC_FABRIC_BUFFERS_H_

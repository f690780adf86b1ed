// Buffers of messages that libfabric receives.
#ifndef DOGGED_ROUTING_FABRIC_FABRIC_BUFFERS_H_
#define DOGGED_ROUTING_FABRIC_FABRIC_BUFFERS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/base/bytes.h"

namespace dogged {

// Buffers of one length; messages hold on to theirs, and may be let go by any
// thread, even after the transport is gone.
class BufferPool {
 public:
  struct Buffer {
    std::unique_ptr<char[]> bytes;
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
    return {
        std::unique_ptr<char[]>(new char[static_cast<size_t>(buffer_bytes_)])};
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
    std::shared_ptr<const void> owner(
        bytes, [pool = std::move(pool)](char* used) {
          pool->Give({std::unique_ptr<char[]>(used)});
        });
    return Bytes(std::move(owner),
                 absl::string_view(bytes, static_cast<size_t>(size)));
  }

 private:
  // Fresh memory costs more than to fill it, so some is kept.
  static constexpr int kFreeMax = 8;

  const int64_t buffer_bytes_;
  std::mutex mutex_;
  std::vector<Buffer> free_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_FABRIC_FABRIC_BUFFERS_H_

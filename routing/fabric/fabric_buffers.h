// Buffers of the libfabric transport, for sending and for receiving.
#ifndef DOGGED_ROUTING_FABRIC_FABRIC_BUFFERS_H_
#define DOGGED_ROUTING_FABRIC_FABRIC_BUFFERS_H_

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"

namespace dogged {

// Context of an operation, which its completion points to. libfabric writes
// into `context`, which therefore stands first.
struct FabricOperation {
  void* context[8];  // a fi_context2
  bool is_send = false;
};

struct SendOperation : FabricOperation {
  AgentId to;
  std::string header;
  Bytes message;
  std::array<iovec, 2> pieces;
};

struct ReceiveBuffer : FabricOperation {
  explicit ReceiveBuffer(int64_t size) : bytes(new char[size]) {}
  std::unique_ptr<char[]> bytes;
};

// Receive buffers; messages hold on to theirs, and may be let go by any
// thread, even after the transport is gone.
class BufferPool {
 public:
  explicit BufferPool(int64_t size) : size_(size) {}
  int64_t size() const { return size_; }

  std::unique_ptr<ReceiveBuffer> Take() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) return std::make_unique<ReceiveBuffer>(size_);
    std::unique_ptr<ReceiveBuffer> buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
  }
  void Give(std::unique_ptr<ReceiveBuffer> buffer) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (std::ssize(free_) < kFreeMax) {
      free_.push_back(std::move(buffer));
    }
  }

 private:
  static constexpr int kFreeMax = 256;
  const int64_t size_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ReceiveBuffer>> free_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_FABRIC_FABRIC_BUFFERS_H_

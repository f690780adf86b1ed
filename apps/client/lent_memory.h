// LentMemory: memory that a user fills and jobs read where it lies; and sealed
// copies of other memory.
//
// Thread-safe.
#ifndef DOGGED_APPS_CLIENT_LENT_MEMORY_H_
#define DOGGED_APPS_CLIENT_LENT_MEMORY_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "apps/client/client_descriptor.h"
#include "apps/client/client_error.h"

namespace dogged {

class LentMemory {
 public:
  LentMemory(ClientDescriptor memory, void* data, size_t bytes)
      : memory_(std::move(memory)), data_(data), bytes_(bytes) {}
  LentMemory(const LentMemory&) = delete;
  LentMemory& operator=(const LentMemory&) = delete;
  ~LentMemory();

  // Errors: DOGGED_NO_ROOM.
  static ClientError Make(size_t bytes, std::shared_ptr<LentMemory>& out);

  void* data() const { return data_; }
  // Its pages are sealed; the user sees them in a mapping where what is written
  // from now on is the user's alone. None if it was lent before, or has not so
  // many bytes: then it is copied like any other memory.
  ClientDescriptor Lend(size_t bytes);

 private:
  std::mutex mutex_;
  ClientDescriptor memory_;
  void* data_;
  size_t bytes_;
  bool is_lent_ = false;
};

// Errors: DOGGED_NO_ROOM; DOGGED_MISUSED if the memory can't be read.
ClientError SealedCopy(const std::string& name, const void* data, size_t bytes,
                       ClientDescriptor& out);
// Values in a descriptor that was received, writable. Errors: DOGGED_NO_ROOM.
ClientError MapResult(const ClientDescriptor& memory, size_t bytes,
                      void*& data);
void UnmapResult(void* data, size_t bytes);

}  // namespace dogged

#endif  // DOGGED_APPS_CLIENT_LENT_MEMORY_H_

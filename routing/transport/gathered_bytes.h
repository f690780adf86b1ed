// GatheredBytes: bytes of a known length that arrive in pieces. Each piece is
// copied to its place as it comes, still warm, and what it came in is free.
#ifndef DOGGED_ROUTING_TRANSPORT_GATHERED_BYTES_H_
#define DOGGED_ROUTING_TRANSPORT_GATHERED_BYTES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/string_view.h"
#include "runtime/base/bytes.h"

namespace dogged {

class GatheredBytes {
 public:
  // For `size` bytes. They end at a multiple of 64, and lie where values do:
  // the data of a value ends its message, so that the value may keep it there
  // (Value::Decode). So as not to give memory for what is only claimed, they
  // lie on the heap instead where too many bytes are awaited in all: there a
  // page takes memory once a piece lies in it. None without memory for them.
  static std::optional<GatheredBytes> Create(int64_t size);
  GatheredBytes(GatheredBytes&& other) noexcept
      : memory_(std::move(other.memory_)),
        first_(other.first_),
        size_(other.size_),
        awaited_(std::exchange(other.awaited_, 0)) {}
  GatheredBytes& operator=(GatheredBytes&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
    std::swap(awaited_, other.awaited_);
    return *this;
  }
  ~GatheredBytes();

  // Writes `piece` from `offset` on, where none has been written, and gives it
  // back from there.
  Bytes Put(int64_t offset, absl::string_view piece);
  // All of it, once each piece is there.
  Bytes whole() const { return Bytes::AllOf(memory_, {first_, size_}); }

 private:
  GatheredBytes(std::shared_ptr<char> memory, char* first, size_t size,
                int64_t awaited)
      : memory_(std::move(memory)),
        first_(first),
        size_(size),
        awaited_(awaited) {}

  std::shared_ptr<char> memory_;
  char* first_;
  size_t size_;
  int64_t awaited_;  // of memory for values: bytes that have not come
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRANSPORT_GATHERED_BYTES_H_

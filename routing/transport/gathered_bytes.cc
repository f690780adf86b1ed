#include "routing/transport/gathered_bytes.h"

#include <algorithm>
#include <new>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/value_memory.h"

namespace dogged {
namespace {

constexpr int64_t kAlignment = 64;
// Longer ones come from the heap, where a page takes memory once a piece lies
// in it: a length that is only claimed costs nothing there.
constexpr int64_t kValueBytesMax = 64 << 20;

// Aligned; null without memory.
std::shared_ptr<char> TakeMemory(int64_t bytes) {
  ValueMemory* const source = CurrentValueMemory();
  if (source != nullptr && bytes <= kValueBytesMax) {
    if (void* const memory = source->Take(bytes)) {
      return {static_cast<char*>(memory),
              [source, bytes](char* data) { source->Give(data, bytes); }};
    }
  }
  constexpr std::align_val_t kAligned{kAlignment};
  void* const memory = operator new(static_cast<size_t>(bytes), kAligned,
                                    std::nothrow);
  if (memory == nullptr) return nullptr;
  return {static_cast<char*>(memory),
          [](char* data) { operator delete(data, kAligned); }};
}

}  // namespace

std::optional<GatheredBytes> GatheredBytes::Create(int64_t size) {
  const int64_t bytes = (size + kAlignment - 1) / kAlignment * kAlignment;
  std::shared_ptr<char> memory = TakeMemory(bytes);
  if (memory == nullptr) return std::nullopt;
  char* const first = memory.get() + (bytes - size);
  return GatheredBytes(std::move(memory), first, static_cast<size_t>(size));
}

Bytes GatheredBytes::Put(int64_t offset, absl::string_view piece) {
  const auto at = static_cast<size_t>(offset);
  DOGGED_CHECK(offset >= 0 && at <= size_ && piece.size() <= size_ - at)
      << "piece " << offset << "+" << piece.size() << " of " << size_;
  std::copy(piece.begin(), piece.end(), first_ + at);
  return Bytes(memory_, {first_ + at, piece.size()});
}

}  // namespace dogged

#include "routing/transport/gathered_bytes.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/value_memory.h"

namespace dogged {
namespace {

constexpr int64_t kAlignment = 64;
// Memory for values that bytes which have not come take, at most, in all.
constexpr int64_t kAwaitedMax = 256 << 20;

std::atomic<int64_t>& AwaitedBytes() {
  static std::atomic<int64_t> bytes{0};
  return bytes;
}

// Memory for values, aligned; null if there is none, or should be none.
std::shared_ptr<char> TakeValueMemory(int64_t bytes) {
  ValueMemory* const source = CurrentValueMemory();
  if (source == nullptr || AwaitedBytes() + bytes > kAwaitedMax) return nullptr;
  void* const memory = source->Take(bytes);
  if (memory == nullptr) return nullptr;
  return {static_cast<char*>(memory),
          [source, bytes](char* data) { source->Give(data, bytes); }};
}

// Aligned; null without memory.
std::shared_ptr<char> TakeHeap(int64_t bytes) {
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
  std::shared_ptr<char> memory = TakeValueMemory(bytes);
  const int64_t awaited = memory == nullptr ? 0 : size;
  if (memory == nullptr) memory = TakeHeap(bytes);
  if (memory == nullptr) return std::nullopt;
  AwaitedBytes() += awaited;
  char* const first = memory.get() + (bytes - size);
  return GatheredBytes(std::move(memory), first, static_cast<size_t>(size),
                       awaited);
}

GatheredBytes::~GatheredBytes() { AwaitedBytes() -= awaited_; }

Bytes GatheredBytes::Put(int64_t offset, absl::string_view piece) {
  const auto at = static_cast<size_t>(offset);
  DOGGED_CHECK(offset >= 0 && at <= size_ && piece.size() <= size_ - at)
      << "piece " << offset << "+" << piece.size() << " of " << size_;
  std::copy(piece.begin(), piece.end(), first_ + at);
  const int64_t came = std::min(awaited_, std::ssize(piece));
  awaited_ -= came;
  AwaitedBytes() -= came;
  return Bytes(memory_, {first_ + at, piece.size()});
}

}  // namespace dogged

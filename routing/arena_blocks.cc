#include "routing/arena_blocks.h"

#include "runtime/base/check.h"

namespace dogged {
namespace {

constexpr int64_t kSmallest = 256;  // of four steps of 64

}  // namespace

int ArenaBlocks::ClassOf(int64_t bytes) {
  int64_t step = kSmallest / 4;
  int size_class = 0;
  while (bytes > 8 * step) {
    step *= 2;
    size_class += 4;
  }
  if (bytes <= 4 * step) return size_class;
  return size_class + static_cast<int>((bytes - 4 * step + step - 1) / step);
}

int64_t ArenaBlocks::SizeOfClass(int size_class) {
  return (kSmallest / 4 << (size_class / 4)) * (4 + size_class % 4);
}

int64_t ArenaBlocks::SizeOf(int64_t bytes) {
  return SizeOfClass(ClassOf(bytes));
}

std::optional<int64_t> ArenaBlocks::Take(int64_t bytes) {
  DOGGED_CHECK(bytes > 0) << bytes;
  if (bytes > end_) return std::nullopt;
  const int size_class = ClassOf(bytes);
  const int64_t size = SizeOfClass(size_class);
  std::vector<int64_t>& free = free_[static_cast<size_t>(size_class)];
  int64_t offset = next_;
  if (!free.empty()) {
    offset = free.back();
    free.pop_back();
    free_bytes_ -= size;
  } else if (size > end_ - next_) {
    return std::nullopt;
  } else {
    next_ += size;
  }
  used_ += size;
  return offset;
}

void ArenaBlocks::Give(int64_t offset, int64_t bytes) {
  const int size_class = ClassOf(bytes);
  const int64_t size = SizeOfClass(size_class);
  used_ -= size;
  free_bytes_ += size;
  DOGGED_CHECK(used_ >= 0) << "block " << offset << " came back twice";
  free_[static_cast<size_t>(size_class)].push_back(offset);
}

}  // namespace dogged

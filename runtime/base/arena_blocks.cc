#include "runtime/base/arena_blocks.h"

#include "runtime/base/check.h"

namespace dogged {
namespace {

constexpr int64_t kSmallest = 256;  // of four steps of 64
// Blocks of equal size would begin at the same sets of a cache, where huge
// pages hide no bit of an address from it: with a page more, each begins
// elsewhere.
constexpr int64_t kColored = 64 << 10;
constexpr int64_t kColorStep = 4096;
// Values of so many bytes may have larger blocks, of so many classes up: a
// quarter of the next power of two each.
constexpr int64_t kLargerOf = 64 << 10;
constexpr int kLargerClasses = 2;

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
  const int64_t size =
      (kSmallest / 4 << (size_class / 4)) * (4 + size_class % 4);
  return size < kColored ? size : size + kColorStep;
}

int64_t ArenaBlocks::SizeOf(int64_t bytes) {
  return SizeOfClass(ClassOf(bytes));
}

int ArenaBlocks::ClassToTakeFrom(int size_class) const {
  const int64_t size = SizeOfClass(size_class);
  const bool has_pages =
      !free_[size_class].backed.empty() ||
      (free_[size_class].unbacked.empty() && next_ + size <= warm_end_);
  if (has_pages || size < kLargerOf) return size_class;
  for (int above = size_class + 1;
       above <= size_class + kLargerClasses && above < kClasses; ++above) {
    if (!free_[above].backed.empty()) return above;
  }
  return size_class;
}

std::optional<ArenaBlocks::Taken> ArenaBlocks::Take(int64_t bytes) {
  DOGGED_CHECK(bytes > 0) << bytes;
  if (bytes > end_) return std::nullopt;
  const int own_class = ClassOf(bytes);
  const int size_class = ClassToTakeFrom(own_class);
  const int64_t size = SizeOfClass(size_class);
  auto& [backed, unbacked] = free_[size_class];
  Taken out{.offset = next_, .is_backed = !backed.empty()};
  if (out.is_backed) {
    out.offset = backed.back();
    backed.pop_back();
    backed_bytes_ -= size;
    if (size_class != own_class) larger_.emplace(out.offset, size_class);
  } else if (!unbacked.empty()) {
    out.offset = unbacked.back();
    unbacked.pop_back();
  } else if (size > end_ - next_) {
    return std::nullopt;
  } else {
    next_ += size;
    out.is_backed = next_ <= warm_end_;
  }
  used_ += size;
  return out;
}

void ArenaBlocks::Give(int64_t offset, int64_t bytes) {
  int size_class = ClassOf(bytes);
  if (const auto larger = larger_.find(offset); larger != larger_.end()) {
    size_class = larger->second;
    larger_.erase(larger);
  }
  const int64_t size = SizeOfClass(size_class);
  used_ -= size;
  backed_bytes_ += size;
  DOGGED_CHECK(used_ >= 0) << "block " << offset << " came back twice";
  free_[size_class].backed.push_back(offset);
}

std::vector<ArenaBlocks::Block> ArenaBlocks::TakeBacked(int64_t kept,
                                                        int64_t bytes_min) {
  std::vector<Block> out;
  // Large blocks first: a call for one of these returns most.
  for (int size_class = kClasses; size_class-- > 0;) {
    const int64_t size = SizeOfClass(size_class);
    std::vector<int64_t>& backed = free_[size_class].backed;
    if (size < bytes_min) break;
    while (!backed.empty() && backed_bytes_ > kept) {
      out.push_back({backed.back(), size, size_class});
      backed.pop_back();
      backed_bytes_ -= size;
    }
  }
  return out;
}

void ArenaBlocks::GiveUnbacked(const Block& block) {
  free_[block.size_class].unbacked.push_back(block.offset);
}

}  // namespace dogged

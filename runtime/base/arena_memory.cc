#include "runtime/base/arena_memory.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

namespace dogged {
namespace {

// Pages of so many free bytes stay for the next values, and half as many as
// are in use; beyond that those of blocks of this size go back to the system.
constexpr int64_t kFreeBytesKept = 64 << 20;
constexpr int64_t kPunchBytesMin = 16 << 10;

// Neighbours as one: offsets, and bytes. The fewer calls, and huge pages go as
// a whole.
std::map<int64_t, int64_t> RunsOf(
    const std::vector<ArenaBlocks::Block>& blocks) {
  std::map<int64_t, int64_t> out;
  for (const auto& block : blocks) out[block.offset] = block.bytes;
  for (auto run = out.begin(); run != out.end(); ++run) {
    auto next = std::next(run);
    while (next != out.end() && next->first == run->first + run->second) {
      run->second += next->second;
      next = out.erase(next);
    }
  }
  return out;
}

}  // namespace

ArenaMemory::ArenaMemory(AddressRange& range, const Options& options)
    : range_(range),
      value_bytes_min_(std::max<int64_t>(1, options.value_bytes_min)),
      blocks_(options.start, range.bytes() - options.start,
              options.warm_bytes) {
  if (options.warm_bytes > 0) {
    range_.Populate(options.start, options.warm_bytes);
  }
}

void* ArenaMemory::Take(int64_t bytes) {
  if (bytes < value_bytes_min_) return nullptr;
  std::optional<ArenaBlocks::Taken> block;
  {
    const std::lock_guard lock(mutex_);
    block = blocks_.Take(bytes);
  }
  if (!block.has_value()) return nullptr;
  if (!block->is_backed) range_.Populate(block->offset, bytes);
  return range_.memory() + block->offset;
}

void ArenaMemory::Give(void* data, int64_t bytes) {
  const int64_t offset = static_cast<char*>(data) - range_.memory();
  int64_t kept = 0;
  {
    const std::lock_guard lock(mutex_);
    blocks_.Give(offset, bytes);
    kept = kFreeBytesKept + blocks_.used_bytes() / 2;
    if (keeps_pages_ || blocks_.backed_bytes() <= kept) return;
  }
  ReturnPages(kept);
}

void ArenaMemory::ReturnPages(int64_t kept) {
  std::vector<ArenaBlocks::Block> blocks;
  {
    const std::lock_guard lock(mutex_);
    if (keeps_pages_) return;
    blocks = blocks_.TakeBacked(kept, kPunchBytesMin);
  }
  // Slow, so beside the lock; nobody else has them meanwhile.
  for (const auto& [offset, bytes] : RunsOf(blocks)) {
    range_.Punch(offset, bytes);
  }
  const std::lock_guard lock(mutex_);
  for (const ArenaBlocks::Block& block : blocks) blocks_.GiveUnbacked(block);
}

void ArenaMemory::KeepPages() {
  const std::lock_guard lock(mutex_);
  keeps_pages_ = true;
}

int64_t ArenaMemory::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return blocks_.used_bytes();
}

}  // namespace dogged

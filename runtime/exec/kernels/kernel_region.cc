#include "runtime/exec/kernels/kernel_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "runtime/base/division.h"

namespace dogged {
namespace {

constexpr int64_t kAlignment = 64;
constexpr char kPattern = static_cast<char>(0xd6);

int64_t PageBytes() {
  static const int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

bool HoldsPattern(const char* first, const char* end) {
  if (first == end) return true;
  // All bytes equal their neighbours: as fast as the system compares memory.
  return *first == kPattern &&
         std::memcmp(first, first + 1, static_cast<size_t>(end - first) - 1) ==
             0;
}

}  // namespace

int64_t PlaceBlocks(absl::Span<RegionBlock> blocks) {
  int64_t at = PageBytes();
  for (RegionBlock& block : blocks) {
    const int64_t room = RoundUp(block.bytes, kAlignment);
    block.first = at;
    block.end = at + std::max(RoundUp(room, PageBytes()), PageBytes());
    block.data = block.end - room;
    at = block.end + PageBytes();
  }
  return at;
}

std::optional<RegionPlace> PlaceOf(absl::Span<const RegionBlock> blocks,
                                   int64_t offset) {
  std::optional<RegionPlace> out;
  int64_t least = 0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    using Side = RegionPlace::Side;
    const RegionBlock& block = blocks[b];
    const int64_t distance =
        std::max({int64_t{0}, block.first - offset, offset - block.end + 1});
    if (out.has_value() && distance >= least) continue;
    least = distance;
    out = {b, offset < block.data                 ? Side::kBefore
              : offset < block.data + block.bytes ? Side::kWithin
                                                  : Side::kBeyond};
  }
  return out;
}

RegionMapping::~RegionMapping() {
  if (memory_ != nullptr) munmap(memory_, static_cast<size_t>(bytes_));
}

int RegionMapping::Create(const char* name) {
  const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd >= 0) fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
  return fd;
}

bool RegionMapping::Map(int64_t bytes, int protection) {
  if (memory_ != nullptr) munmap(memory_, static_cast<size_t>(bytes_));
  void* const memory =
      mmap(nullptr, static_cast<size_t>(bytes), protection, MAP_SHARED, fd_, 0);
  memory_ = memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
  bytes_ = memory_ == nullptr ? 0 : bytes;
  return memory_ != nullptr;
}

bool RegionMapping::Grow(int64_t bytes) {
  if (bytes <= bytes_) return true;
  return ftruncate(fd_, bytes) == 0 && Map(bytes, PROT_READ | PROT_WRITE);
}

bool RegionMapping::Guard(int64_t bytes, absl::Span<const RegionBlock> blocks) {
  if (bytes > bytes_) {
    if (!Map(bytes, PROT_NONE)) return false;
  } else if (mprotect(memory_, static_cast<size_t>(bytes_), PROT_NONE) != 0) {
    return false;
  }
  return std::all_of(blocks.begin(), blocks.end(), [&](const RegionBlock& b) {
    return mprotect(At(b.first), static_cast<size_t>(b.end - b.first),
                    b.is_out ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
  });
}

void RegionMapping::FillSlack(absl::Span<const RegionBlock> blocks) {
  for (const RegionBlock& b : blocks) {
    if (!b.is_out) continue;
    std::fill(At(b.first), At(b.data), kPattern);
    std::fill(At(b.data + b.bytes), At(b.end), kPattern);
  }
}

std::optional<RegionPlace> RegionMapping::FindWritten(
    absl::Span<const RegionBlock> blocks) const {
  for (size_t i = 0; i < blocks.size(); ++i) {
    const RegionBlock& b = blocks[i];
    if (!b.is_out) continue;
    if (!HoldsPattern(At(b.first), At(b.data))) {
      return RegionPlace{i, RegionPlace::Side::kBefore};
    }
    if (!HoldsPattern(At(b.data + b.bytes), At(b.end))) {
      return RegionPlace{i, RegionPlace::Side::kBeyond};
    }
  }
  return std::nullopt;
}

}  // namespace dogged

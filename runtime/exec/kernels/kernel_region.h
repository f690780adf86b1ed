// Region: the memory through which a kernel in another process gets its inputs
// and gives its outputs: the place of each block, and the pattern that shows
// writes beside blocks.
//
// Each block has pages of its own between pages that can't be touched, and ends
// with its last page as nearly as its alignment of 64 lets it; the rest of its
// pages is *slack*, which holds a pattern.
#ifndef DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_REGION_H_
#define DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_REGION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"

namespace dogged {

struct RegionBlock {
  int64_t bytes = 0;
  bool is_out = false;  // else it can only be read
  int64_t first = 0;    // offset of its pages
  int64_t end = 0;      // of its pages
  int64_t data = 0;     // offset of its data, in these pages

  bool operator==(const RegionBlock&) const = default;
};

// Places `blocks` by their sizes; how many bytes all take.
int64_t PlaceBlocks(absl::Span<RegionBlock> blocks);

// Where an offset lies as seen from a block.
struct RegionPlace {
  enum class Side : uint8_t { kBefore, kWithin, kBeyond };
  size_t block = 0;
  Side side = Side::kWithin;
};
// The block that the byte at `offset` belongs to or lies nearest to; none if
// there are none.
std::optional<RegionPlace> PlaceOf(absl::Span<const RegionBlock> blocks,
                                   int64_t offset);

// This process's mapping of the region that a descriptor stands for.
class RegionMapping {
 public:
  // Maps `fd`, which stays the caller's.
  explicit RegionMapping(int fd) : fd_(fd) {}
  ~RegionMapping();
  RegionMapping(const RegionMapping&) = delete;
  RegionMapping& operator=(const RegionMapping&) = delete;

  // A new region, closed by exec, which nobody can make smaller: who maps it
  // would be ended by a signal. -1 if the system refuses.
  static int Create(const char* name);

  // The region has at least `bytes`, and all can be read and written here.
  // False without memory for it.
  bool Grow(int64_t bytes);
  // The first `bytes` of the region, of which only `blocks` can be touched
  // here, outputs alone be written. False if the system refuses.
  bool Guard(int64_t bytes, absl::Span<const RegionBlock> blocks);

  char* At(int64_t offset) const { return memory_ + offset; }
  int64_t bytes() const { return bytes_; }
  // Writes the pattern beside the outputs.
  void FillSlack(absl::Span<const RegionBlock> blocks);
  // An output beside which the pattern is not as it was; none if all are.
  std::optional<RegionPlace> FindWritten(
      absl::Span<const RegionBlock> blocks) const;

 private:
  bool Map(int64_t bytes, int protection);

  const int fd_;
  char* memory_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_REGION_H_

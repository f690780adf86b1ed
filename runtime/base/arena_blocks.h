// ArenaBlocks: the parts of an arena that are in use: offsets and sizes, no
// memory. Blocks come from the top in sizes of a few classes, and are used
// again for values of their class, the last returned block first: it is warm. A
// free block is backed by pages, unless these went back to the system. Rather
// than to take fresh pages, a value has a backed block of a class above its
// own: the columns of a factorisation get shorter from step to step. Not
// thread-safe.
#ifndef DOGGED_RUNTIME_BASE_ARENA_BLOCKS_H_
#define DOGGED_RUNTIME_BASE_ARENA_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace dogged {

class ArenaBlocks {
 public:
  // Hands out [start, start + bytes), whose first `warm_bytes` are backed.
  ArenaBlocks(int64_t start, int64_t bytes, int64_t warm_bytes = 0)
      : next_(start),
        warm_end_(start + warm_bytes),
        end_(start + bytes),
        free_(kClasses) {}

  struct Taken {
    int64_t offset;
    bool is_backed;  // its pages are there
  };
  // `bytes` bytes, aligned to 64; none when full. bytes > 0.
  std::optional<Taken> Take(int64_t bytes);
  // Returns a block of Take(bytes); its pages are there.
  void Give(int64_t offset, int64_t bytes);

  struct Block {
    int64_t offset;
    int64_t bytes;
    int size_class;
  };
  // Free blocks of at least `bytes_min` bytes whose pages are there, nobody's
  // until GiveUnbacked(): as many as leave no more than `kept` bytes of all.
  std::vector<Block> TakeBacked(int64_t kept, int64_t bytes_min);
  // Returns a block of TakeBacked(); its pages have gone.
  void GiveUnbacked(const Block& block);

  // Bytes of a fresh block for a value of `bytes`: at most a quarter more.
  static int64_t SizeOf(int64_t bytes);

  int64_t used_bytes() const { return used_; }
  // Bytes of free blocks whose pages are there.
  int64_t backed_bytes() const { return backed_bytes_; }

 private:
  // Sizes 64 * {4, 5, 6, 7} * 2^k.
  static constexpr int kClasses = 4 * 48;
  static int ClassOf(int64_t bytes);
  static int64_t SizeOfClass(int size_class);
  // A class above this one, of blocks up to half as large again, that has a
  // backed one; else this one.
  int ClassToTakeFrom(int size_class) const;

  int64_t next_;
  int64_t warm_end_;
  int64_t end_;
  int64_t used_ = 0;
  int64_t backed_bytes_ = 0;
  struct Free {
    std::vector<int64_t> backed;
    std::vector<int64_t> unbacked;
  };
  std::vector<Free> free_;  // by class
  // By offset, the class of each block in use that is not the value's own.
  absl::flat_hash_map<int64_t, int> larger_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_ARENA_BLOCKS_H_

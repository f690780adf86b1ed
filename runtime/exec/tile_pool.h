// TilePool: memory of a process whose values nobody else maps, for outputs of
// kernels. On huge pages where the system grants them: a fresh page of 4 KB
// costs 0.5 to 10 us of a worker, by the machine, and a tile has hundreds.
// The adapter to anonymous mappings.
#ifndef DOGGED_RUNTIME_EXEC_TILE_POOL_H_
#define DOGGED_RUNTIME_EXEC_TILE_POOL_H_

#include <cstdint>
#include <memory>

#include "runtime/base/arena_memory.h"

namespace dogged {

class TilePool {
 public:
  // `bytes` of addresses; pages are taken when values are made, but for
  // `warm_bytes`, which are there from the start. Null where addresses are
  // limited (ulimit -v) or can't be had, and where the address sanitizer is to
  // check values: then all comes from the heap.
  static std::unique_ptr<TilePool> Create(int64_t bytes,
                                          int64_t warm_bytes = 0);
  // Values come from the heap again; none that came from here is left.
  ~TilePool();
  TilePool(const TilePool&) = delete;
  TilePool& operator=(const TilePool&) = delete;

  // Values of this process come from it from now on.
  void Install();
  ArenaMemory& memory() { return memory_; }

 private:
  TilePool(std::unique_ptr<AddressRange> range, int64_t warm_bytes);

  const std::unique_ptr<AddressRange> range_;
  ArenaMemory memory_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_TILE_POOL_H_

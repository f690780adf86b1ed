// Memory of values: blocks aligned to 64 bytes, counted. The smallest are kept
// for reuse by the thread that frees them, so that a task whose values are
// scalars costs no trip to the heap. Thread-safe, without locks.
#ifndef DOGGED_RUNTIME_BASE_BLOCK_POOL_H_
#define DOGGED_RUNTIME_BASE_BLOCK_POOL_H_

#include <cstddef>
#include <cstdint>

namespace dogged {

inline constexpr size_t kBlockAlignment = 64;  // bytes

// A block of `bytes`, a multiple of kBlockAlignment; null without memory.
void* AllocateBlock(size_t bytes);
// Gives back a block of AllocateBlock(), of the same size, on any thread.
void FreeBlock(void* block, size_t bytes);
// Bytes in blocks that are not given back. Exact while no thread allocates.
int64_t LiveBlockBytes();
// Returns the blocks that this thread keeps to the heap. After a job: blocks
// that lie scattered among what is freed hold its pages.
void ReturnKeptBlocks();
// Bytes of blocks that this thread keeps.
int64_t KeptBlockBytes();

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_BLOCK_POOL_H_

#include "apps/dogged/process/freed_memory.h"

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <mutex>

#include "runtime/base/block_pool.h"

namespace dogged {
namespace {

// Blocks of the heap from here on are mappings of their own; the most that
// glibc takes.
constexpr int kMappedBytesMin = 32 << 20;
constexpr int kKeptHeapBytes = 64 << 20;
constexpr int kHeapStepBytes = 4 << 20;

// A block that glibc counts as large, when it is freed.
constexpr size_t kTrimmingBytes = 128 << 10;

// Whether KeepFreedMemory() was called.
std::atomic<bool>& HeapKeeps() {
  static std::atomic<bool> keeps{false};
  return keeps;
}

void SetKeptBytes() {
  mallopt(M_MMAP_THRESHOLD, kMappedBytesMin);
  mallopt(M_TRIM_THRESHOLD, kKeptHeapBytes);
  mallopt(M_TOP_PAD, kHeapStepBytes);
}

}  // namespace

void ReturnFreedMemory() {
  ReturnKeptBlocks();
  malloc_trim(0);
  if (!HeapKeeps()) return;
  // Threads that do so at once would set each other's bounds.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  // That leaves the end of a thread's arena to the next large block that is
  // freed in it, and to these two bounds (glibc 2.36).
  mallopt(M_TRIM_THRESHOLD, 0);
  mallopt(M_TOP_PAD, 0);
  void* volatile const block = malloc(kTrimmingBytes);
  free(block);
  SetKeptBytes();
}

void KeepFreedMemory() {
  HeapKeeps() = true;
  SetKeptBytes();
}

}  // namespace dogged

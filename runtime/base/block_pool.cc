#include "runtime/base/block_pool.h"

#include <array>
#include <atomic>
#include <new>

namespace dogged {
namespace {

// The only size that is kept: of a value with up to 32 bytes of data.
constexpr size_t kKeptBytes = 128;
constexpr int kKeptMax = 1024;  // blocks a thread

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeeps = false;  // that the sanitizer sees freed blocks
#else
constexpr bool kKeeps = true;
#endif

// Counters of live bytes: threads take turns in having one of their own.
constexpr size_t kCounters = 8;
struct alignas(kBlockAlignment) Counter {
  std::atomic<int64_t> bytes{0};
};

std::array<Counter, kCounters>& Counters() {
  static std::array<Counter, kCounters> counters;
  return counters;
}

std::atomic<int64_t>& CounterOfThread() {
  static std::atomic<size_t> next{0};
  thread_local std::atomic<int64_t>& counter =
      Counters()[next.fetch_add(1) % kCounters].bytes;
  return counter;
}

void Delete(void* block) {
  operator delete (block, std::align_val_t{kBlockAlignment});
}

// Blocks that a thread keeps: a list through the blocks themselves.
struct Kept {
  void* first = nullptr;
  int count = 0;
  bool is_over = false;  // the thread ends: keeps no more
};

// Trivial, so that it may be used while a thread's other objects end.
Kept& KeptOfThread() {
  thread_local Kept kept;
  return kept;
}

void ReturnAll(Kept& kept) {
  while (kept.first != nullptr) {
    void* const block = kept.first;
    kept.first = *static_cast<void**>(block);
    Delete(block);
  }
  kept.count = 0;
}

struct Ending {
  Ending() = default;
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending() {
    Kept& kept = KeptOfThread();
    kept.is_over = true;
    ReturnAll(kept);
  }
};

}  // namespace

void* AllocateBlock(size_t bytes) {
  void* block = nullptr;
  Kept& kept = KeptOfThread();
  if (bytes == kKeptBytes && kept.first != nullptr) {
    block = kept.first;
    kept.first = *static_cast<void**>(block);
    --kept.count;
  } else {
    block = operator new (bytes, std::align_val_t{kBlockAlignment},
                          std::nothrow);
    if (block == nullptr) return nullptr;
  }
  CounterOfThread().fetch_add(static_cast<int64_t>(bytes),
                              std::memory_order_relaxed);
  return block;
}

void FreeBlock(void* block, size_t bytes) {
  CounterOfThread().fetch_sub(static_cast<int64_t>(bytes),
                              std::memory_order_relaxed);
  Kept& kept = KeptOfThread();
  if (kKeeps && bytes == kKeptBytes && kept.count < kKeptMax && !kept.is_over) {
    if (kept.first == nullptr) {
      thread_local const Ending ending;
      static_cast<void>(ending);
    }
    *static_cast<void**>(block) = kept.first;
    kept.first = block;
    ++kept.count;
    return;
  }
  Delete(block);
}

int64_t LiveBlockBytes() {
  int64_t sum = 0;
  for (const Counter& counter : Counters()) {
    sum += counter.bytes.load(std::memory_order_relaxed);
  }
  return sum;
}

void ReturnKeptBlocks() { ReturnAll(KeptOfThread()); }

int64_t KeptBlockBytes() {
  return KeptOfThread().count * static_cast<int64_t>(kKeptBytes);
}

}  // namespace dogged

#include "runtime/exec/tile_pool.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <utility>

namespace dogged {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kIsChecked = true;
#else
constexpr bool kIsChecked = false;
#endif
constexpr int64_t kPageBytes = 4096;

class AnonymousRange : public AddressRange {
 public:
  AnonymousRange(char* memory, int64_t bytes)
      : memory_(memory), bytes_(bytes) {}
  ~AnonymousRange() override { munmap(memory_, bytes_); }
  AnonymousRange(const AnonymousRange&) = delete;
  AnonymousRange& operator=(const AnonymousRange&) = delete;

  char* memory() const override { return memory_; }
  int64_t bytes() const override { return bytes_; }
  void Populate(int64_t offset, int64_t bytes) override {
    const int64_t first = offset / kPageBytes * kPageBytes;
    (void)madvise(memory_ + first, offset + bytes - first, MADV_POPULATE_WRITE);
  }
  void Punch(int64_t offset, int64_t bytes) override {
    const int64_t first = (offset + kPageBytes - 1) / kPageBytes * kPageBytes;
    const int64_t end = (offset + bytes) / kPageBytes * kPageBytes;
    if (first >= end) return;
    (void)madvise(memory_ + first, end - first, MADV_DONTNEED);
  }

 private:
  char* const memory_;
  const int64_t bytes_;
};

}  // namespace

std::unique_ptr<TilePool> TilePool::Create(int64_t bytes, int64_t warm_bytes) {
  rlimit addresses = {};
  if (kIsChecked || bytes <= warm_bytes ||
      getrlimit(RLIMIT_AS, &addresses) != 0 ||
      addresses.rlim_cur != RLIM_INFINITY) {
    return nullptr;
  }
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  (void)madvise(memory, bytes, MADV_HUGEPAGE);
  return std::unique_ptr<TilePool>(new TilePool(
      std::make_unique<AnonymousRange>(static_cast<char*>(memory), bytes),
      warm_bytes));
}

TilePool::TilePool(std::unique_ptr<AddressRange> range, int64_t warm_bytes)
    : range_(std::move(range)), memory_(*range_, {.warm_bytes = warm_bytes}) {}

TilePool::~TilePool() { SetValueMemory(nullptr); }

void TilePool::Install() { SetValueMemory(&memory_); }

}  // namespace dogged

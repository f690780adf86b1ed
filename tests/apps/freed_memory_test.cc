// Aim: memory that a thread has freed goes back to the operating system.
// Method: pages of this process, counted by the system.
#include "apps/dogged/process/freed_memory.h"

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace dogged {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0;
  int64_t resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(FreedMemory, AThreadReturnsTheEndOfItsPartOfTheHeap) {
  constexpr int64_t kBytes = 32 << 20;
  constexpr int64_t kBlock = 4 << 10;
  KeepFreedMemory();
  int64_t kept = 0;
  int64_t left = 0;
  std::thread([&] {
    std::vector<std::unique_ptr<char[]>> blocks;
    for (int64_t b = 0; b < kBytes / kBlock; ++b) {
      blocks.push_back(std::make_unique<char[]>(kBlock));
    }
    blocks.clear();
    kept = ResidentBytes();
    ReturnFreedMemory();
    left = ResidentBytes();
  }).join();
  EXPECT_GT(kept, kBytes);
  EXPECT_LT(left, kept - kBytes / 4 * 3);
}
#endif

}  // namespace
}  // namespace dogged

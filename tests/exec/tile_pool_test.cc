// Aim: values of a process lie in the pool, are used again, and what nobody
// uses goes back to the system. Method: values and blocks, and which of their
// pages Linux says are there.
#include "runtime/exec/tile_pool.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/value.h"

namespace dogged {
namespace {

constexpr int64_t kTileBytes = 1 << 20;

// Bytes of the computer's memory that blocks take.
int64_t PagesBytes(const std::vector<void*>& blocks, int64_t bytes) {
  int64_t pages = 0;
  for (void* const block : blocks) {
    const auto from = reinterpret_cast<uintptr_t>(block) / 4096 * 4096;
    const auto size =
        reinterpret_cast<uintptr_t>(block) + static_cast<size_t>(bytes) - from;
    std::vector<unsigned char> is_there((size + 4095) / 4096);
    EXPECT_EQ(mincore(reinterpret_cast<void*>(from), size, is_there.data()), 0);
    for (const unsigned char page : is_there) pages += page & 1;
  }
  return pages * 4096;
}

class TilePoolTest : public testing::Test {
 protected:
  void SetUp() override {
    pool_ = TilePool::Create(int64_t{1} << 30);
    if (pool_ == nullptr) GTEST_SKIP() << "the sanitizer's own heap is in use";
    pool_->Install();
  }
  std::unique_ptr<TilePool> pool_;
};

TEST_F(TilePoolTest, ValuesLieInItAndComeBack) {
  {
    const Value small = Value::Scalar(1);
    EXPECT_EQ(pool_->memory().used_bytes(), 0);
    const Value value = Value::Allocate(ElementType::kDouble, {100, 100});
    EXPECT_GE(pool_->memory().used_bytes(), 80000);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(value.data()) % 64, 0u);
    // A value that the pool has no room for comes from the heap.
    const Value large = Value::Allocate(ElementType::kDouble, {200 << 20});
    EXPECT_LT(pool_->memory().used_bytes(), 200000);
  }
  EXPECT_EQ(pool_->memory().used_bytes(), 0);
  const void* first = nullptr;
  for (int i = 0; i < 3; ++i) {  // the block that came back last is warm
    const Value value = Value::Allocate(ElementType::kDouble, {100, 100});
    if (first == nullptr) first = value.data();
    EXPECT_EQ(value.data(), first);
  }
}

TEST_F(TilePoolTest, PagesOfFreeBlocksAreGivenBack) {
  std::vector<void*> tiles;
  for (int i = 0; i < 300; ++i) {
    tiles.push_back(pool_->memory().Take(kTileBytes));
    ASSERT_NE(tiles.back(), nullptr);
    std::memset(tiles.back(), 7, kTileBytes);
  }
  EXPECT_GE(PagesBytes(tiles, kTileBytes), 300 * kTileBytes);
  for (void* tile : tiles) pool_->memory().Give(tile, kTileBytes);
  EXPECT_LE(PagesBytes(tiles, kTileBytes), 70 << 20);
  pool_->memory().ReturnPages();
  EXPECT_LE(PagesBytes(tiles, kTileBytes), 4 << 20);
  void* again = pool_->memory().Take(kTileBytes);
  EXPECT_EQ(std::string(static_cast<char*>(again), kTileBytes),
            std::string(kTileBytes, 0));
}

TEST(TilePool, SomePagesAreThereFromTheStart) {
  const auto pool = TilePool::Create(int64_t{1} << 30, 4 * kTileBytes);
  if (pool == nullptr) GTEST_SKIP() << "the sanitizer's own heap is in use";
  char* const first = static_cast<char*>(pool->memory().Take(kTileBytes));
  ASSERT_NE(first, nullptr);
  EXPECT_GE(PagesBytes({first + 2 * kTileBytes}, kTileBytes), kTileBytes / 2);
  pool->memory().Give(first, kTileBytes);
}

TEST(TilePool, LimitedAddressesAreLeftToTheHeap) {
  EXPECT_EQ(TilePool::Create(0), nullptr);
  EXPECT_EQ(TilePool::Create(INT64_MAX), nullptr);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit limited = before;
  limited.rlim_cur = rlim_t{1} << 40;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  EXPECT_EQ(TilePool::Create(1 << 30), nullptr);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
}

}  // namespace
}  // namespace dogged

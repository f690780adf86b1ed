// Aim: whatever sizes a call's values have, a byte written next to an output is
// seen and told by the output and the side of it.
// Method: random sizes, edges of pages among them; each slack byte is written
// once.
#include "runtime/exec/kernels/kernel_region.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/random.h"

namespace dogged {
namespace {

using Side = RegionPlace::Side;

class KernelRegionTest : public testing::Test {
 protected:
  KernelRegionTest() : fd_(RegionMapping::Create("test")), region_(fd_) {}
  ~KernelRegionTest() override { close(fd_); }

  // Writes to `offset` of a filled region, and looks.
  void ExpectSeen(const std::vector<RegionBlock>& blocks, size_t block,
                  int64_t offset, Side side) {
    char& byte = *region_.At(offset);
    ++byte;
    const auto written = region_.FindWritten(blocks);
    --byte;
    ASSERT_TRUE(written.has_value()) << "block " << block << " at " << offset;
    EXPECT_EQ(written->block, block);
    EXPECT_EQ(written->side, side) << "block " << block << " at " << offset;
    const auto place = PlaceOf(blocks, offset);
    ASSERT_TRUE(place.has_value());
    EXPECT_EQ(place->block, block);
    EXPECT_EQ(place->side, side);
  }

  const int fd_;
  RegionMapping region_;
};

TEST_F(KernelRegionTest, WhatIsWrittenBesideAnOutputIsSeen) {
  const uint64_t seed = 7;
  SCOPED_TRACE(seed);
  Rng rng = Rng(seed).Stream("region");
  const int64_t sizes[] = {0, 1, 8, 63, 64, 65, 4032, 4088, 4096, 4097, 8192};
  for (int round = 0; round < 20; ++round) {
    std::vector<RegionBlock> blocks(1 + rng.Next() % 4);
    for (RegionBlock& block : blocks) {
      block.bytes = sizes[rng.Next() % std::size(sizes)];
      block.is_out = rng.Next() % 2 == 0;
    }
    const int64_t bytes = PlaceBlocks(absl::MakeSpan(blocks));
    ASSERT_TRUE(region_.Grow(bytes));
    region_.FillSlack(blocks);
    int64_t before = 0;
    for (size_t b = 0; b < blocks.size(); ++b) {
      const RegionBlock& block = blocks[b];
      // A page that can't be touched on either side, and room for the data.
      EXPECT_GT(block.first, before);
      EXPECT_LT(block.end, bytes);
      EXPECT_GE(block.data, block.first);
      EXPECT_LE(block.data + block.bytes, block.end);
      EXPECT_LT(block.end - block.data - block.bytes, 64);
      EXPECT_EQ(block.data % 64, 0);
      before = block.end;
      std::fill(region_.At(block.data), region_.At(block.data + block.bytes),
                static_cast<char>(round));
    }
    EXPECT_FALSE(region_.FindWritten(blocks).has_value());
    for (size_t b = 0; b < blocks.size(); ++b) {
      const RegionBlock& block = blocks[b];
      if (!block.is_out) continue;
      for (int64_t at = block.first; at < block.data; ++at) {
        ExpectSeen(blocks, b, at, Side::kBefore);
      }
      for (int64_t at = block.data + block.bytes; at < block.end; ++at) {
        ExpectSeen(blocks, b, at, Side::kBeyond);
      }
    }
  }
}

TEST_F(KernelRegionTest, APageBetweenBlocksBelongsToTheNearer) {
  std::vector<RegionBlock> blocks = {{.bytes = 64}, {.bytes = 64}};
  PlaceBlocks(absl::MakeSpan(blocks));
  const auto expect = [&](int64_t offset, size_t block, Side side) {
    const auto place = PlaceOf(blocks, offset);
    ASSERT_TRUE(place.has_value());
    EXPECT_EQ(place->block, block) << offset;
    EXPECT_EQ(place->side, side) << offset;
  };
  expect(0, 0, Side::kBefore);
  expect(blocks[0].data, 0, Side::kWithin);
  expect(blocks[0].end, 0, Side::kBeyond);
  expect(blocks[1].first - 1, 1, Side::kBefore);
  expect(blocks[1].end + 9, 1, Side::kBeyond);
  EXPECT_FALSE(PlaceOf({}, 0).has_value());
}

}  // namespace
}  // namespace dogged

#include "runtime/base/bytes.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "runtime/base/split_bytes.h"

namespace dogged {
namespace {

TEST(SplitBytes, SlicesAreThoseOfOneStretch) {
  const std::string all = "abcdefgh";
  const auto size = std::ssize(all);
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    const SplitBytes split(Bytes(all.substr(0, cut)), Bytes(all.substr(cut)));
    EXPECT_EQ(split.size(), size);
    EXPECT_EQ(split.Join().view(), all);
    for (int64_t from = 0; from <= size; ++from) {
      for (int64_t count = 0; count <= size - from; ++count) {
        const SplitBytes part = split.Slice(from, count);
        EXPECT_EQ(part.size(), count);
        EXPECT_EQ(part.Join().view(), all.substr(static_cast<size_t>(from),
                                                 static_cast<size_t>(count)));
      }
    }
  }
}

TEST(SplitBytes, OneStretchIsNotCopied) {
  const Bytes whole(std::string(100, 'x'));
  EXPECT_EQ(SplitBytes(whole).Join().data(), whole.data());
  EXPECT_EQ(SplitBytes(whole, Bytes()).Join().data(), whole.data());
  EXPECT_EQ(SplitBytes(whole).Slice(10, 20).Join().data(), whole.data() + 10);
}

}  // namespace
}  // namespace dogged

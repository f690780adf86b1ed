// Aim: a value's digest is that of its data, whichever thread asks first.
#include "runtime/base/value.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/hash.h"

namespace dogged {
namespace {

TEST(Value, AllWhoAskForADigestThatIsDueGetTheSame) {
  for (int round = 0; round < 100; ++round) {
    Value value = Value::Allocate(ElementType::kInt64, {4096});
    for (int64_t& x : value.mutable_span<int64_t>()) x = round;
    const Digest expected = Hash128(value.view());
    value.SealLazily();
    std::vector<std::thread> askers;
    for (int i = 0; i < 3; ++i) {
      askers.emplace_back([&] { EXPECT_EQ(value.digest(), expected); });
    }
    for (std::thread& asker : askers) asker.join();
  }
}

// As a kernel does that takes it as an output in place.
TEST(Value, WhatIsWrittenAndSealedAgainHasTheDigestOfItsNewData) {
  Value value = Value::Allocate(ElementType::kInt64, {2});
  const auto write = [&](int64_t x) {
    value.mutable_span<int64_t>()[0] = x;
    value.mutable_span<int64_t>()[1] = x;
    return Hash128(value.view());
  };
  Digest expected = write(1);
  value.Seal();
  EXPECT_EQ(value.digest(), expected);
  expected = write(2);
  value.SealLazily();
  EXPECT_EQ(value.digest(), expected);
  (void)write(3);
  value.SealLazily();
  expected = write(4);
  value.Seal();
  EXPECT_EQ(value.digest(), expected);
}

// Tiles at the edge of a grid have parts without elements.
TEST(Value, OfNoElementsSurviveTheWire) {
  for (const Shape& shape :
       {Shape{0}, Shape{0, 5}, Shape{5, 0}, Shape{7, 0, 3}, Shape{7, 3, 0}}) {
    Value value = Value::Allocate(ElementType::kDouble, shape);
    value.Seal();
    Encoder out;
    value.Encode(out);
    const std::string bytes = out.Take();
    Decoder in(bytes);
    const absl::StatusOr<Value> decoded = Value::Decode(in);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(decoded->shape(), shape);
    EXPECT_EQ(decoded->bytes(), 0);
  }
}

TEST(Value, OfTooManyElementsAreRefused) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  for (const Shape& shape : {Shape{kHuge}, Shape{kHuge, kHuge},
                             Shape{kHuge, kHuge, 0}, Shape{-1}, Shape{0, -1}}) {
    Encoder out;
    out.PutU64(0);
    out.PutU64(0);
    out.PutU8(0);
    shape.Encode(out);
    out.PutString("");
    const std::string bytes = out.Take();
    Decoder in(bytes);
    EXPECT_FALSE(Value::Decode(in).ok()) << shape.ToString();
  }
}

}  // namespace
}  // namespace dogged

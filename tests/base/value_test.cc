// Aim: a value's digest is that of its data, whichever thread asks first; and
// what came in a message may stay there.
#include "runtime/base/value.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/bytes.h"
#include "runtime/base/codec.h"
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

// `value` as it arrives, its data at a multiple of 64 plus `shift`.
Bytes Arrived(const Value& value, size_t shift, bool is_all) {
  Encoder out;
  value.Encode(out);
  const auto size = static_cast<size_t>(out.size());
  const size_t bytes = (size + 63) / 64 * 64 + 64;
  const std::shared_ptr<char> memory(
      static_cast<char*>(std::aligned_alloc(64, bytes)), std::free);
  char* const first = memory.get() + (bytes - 64 - size) + shift;
  std::memcpy(first, out.view().data(), size);
  const absl::string_view view(first, size);
  return is_all ? Bytes::AllOf(memory, view) : Bytes(memory, view);
}

TEST(Value, StaysInABufferThatHoldsLittleElse) {
  Value value = Value::Allocate(ElementType::kDouble, {64, 16});
  for (size_t i = 0; i < 1024; ++i) {
    value.mutable_span<double>()[i] = static_cast<double>(i);
  }
  value.Seal();
  const auto decoded = [&](size_t shift, bool is_all) {
    const Bytes buffer = Arrived(value, shift, is_all);
    Decoder in(buffer.view());
    absl::StatusOr<Value> out = Value::Decode(in, buffer);
    EXPECT_TRUE(out.ok()) << out.status();
    const auto* const data = static_cast<const char*>(out->data());
    const bool stays =
        data > buffer.data() && data < buffer.data() + buffer.size();
    return std::pair(*std::move(out), stays);
  };
  const int64_t before = Value::LiveBytes();
  {
    const auto [kept, stays] = decoded(0, true);
    EXPECT_TRUE(stays);
    EXPECT_FALSE(kept.IsWritable()) << "others may read the buffer";
    EXPECT_TRUE(kept.IsUnique());
    EXPECT_GE(Value::LiveBytes() - before, kept.bytes());
    EXPECT_EQ(kept.view(), value.view()) << "the buffer's owner has gone";
    EXPECT_EQ(kept.digest(), value.digest());
    EXPECT_TRUE(kept.Copy().IsWritable());
  }
  EXPECT_EQ(Value::LiveBytes(), before);
  for (const auto& [shift, is_all] : {std::pair(8, true), {0, false}}) {
    const auto [copy, stays] = decoded(static_cast<size_t>(shift), is_all);
    EXPECT_FALSE(stays) << "shift " << shift;
    EXPECT_TRUE(copy.IsWritable());
    EXPECT_EQ(copy.view(), value.view());
  }
}

TEST(Value, ThatIsWrongInItsBufferIsRefused) {
  Value value = Value::Allocate(ElementType::kDouble, {1024});
  for (double& x : value.mutable_span<double>()) x = 1;
  value.Seal();
  const Bytes good = Arrived(value, 0, true);
  const_cast<char*>(good.data())[good.size() - 1] ^= 1;
  Decoder in(good.view());
  EXPECT_EQ(Value::Decode(in, good).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace dogged

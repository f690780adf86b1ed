// Aim: a value's digest is that of its data, whoever asks first.
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

}  // namespace
}  // namespace dogged

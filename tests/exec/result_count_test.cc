// Aim: that all results are bound is noticed, whether the last of them or their
// number comes last, or both at once.
// Method: both orders; two threads that race from a barrier, many times.
#include "runtime/exec/result_count.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"

namespace dogged {
namespace {

TEST(ResultCount, TheLastResultEndsIt) {
  ResultCount count(5);
  EXPECT_FALSE(count.Add(2));
  EXPECT_FALSE(count.Add(2));
  EXPECT_TRUE(count.Add(1));
  EXPECT_EQ(count.bound(), 5);
}

// Workers have bound all results of a loop before the worker that binds its end
// sets their number.
TEST(ResultCount, TheirNumberEndsIt) {
  ResultCount count(std::nullopt);
  EXPECT_FALSE(count.Add(3));
  EXPECT_FALSE(count.Add(4));
  EXPECT_TRUE(count.SetTotal(7));
  EXPECT_EQ(count.total(), 7);
  ResultCount early(std::nullopt);
  EXPECT_FALSE(early.SetTotal(7));
  EXPECT_TRUE(early.Add(7));
}

TEST(ResultCount, OfARaceSomeoneKnows) {
  for (int round = 0; round < 2000; ++round) {
    ResultCount count(std::nullopt);
    std::atomic<int> ready{0};
    bool by_last = false;
    const auto await = [&ready] {
      ++ready;
      while (ready.load() < 2) std::this_thread::yield();
    };
    std::thread other([&] {
      await();
      by_last = count.Add(1);
    });
    await();
    const bool by_total = count.SetTotal(1);
    other.join();
    ASSERT_TRUE(by_last || by_total) << "round " << round;
  }
}

}  // namespace
}  // namespace dogged

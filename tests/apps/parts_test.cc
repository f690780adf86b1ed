// Aim: each part is done once, whatever threads there are; an error ends it,
// and want of memory beside others does not. Method: parts that count, fail,
// and throw.
#include "apps/verify/parts.h"

#include <atomic>
#include <new>
#include <vector>

#include "gtest/gtest.h"

namespace dogged {
namespace {

TEST(Parts, AreEachDoneOnce) {
  for (const int64_t count : {0, 1, 2, 50}) {
    for (const int threads : {1, 2, 7}) {
      std::vector<std::atomic<int>> done(static_cast<size_t>(count));
      const absl::Status status = ForEachPart(count, threads, [&](int64_t p) {
        ++done[p];
        return absl::OkStatus();
      });
      EXPECT_TRUE(status.ok()) << status;
      for (const auto& times : done) EXPECT_EQ(times, 1);
    }
  }
}

TEST(Parts, EndWithAnError) {
  for (const int threads : {1, 3}) {
    std::atomic<int> begun = 0;
    const absl::Status status = ForEachPart(1000, threads, [&](int64_t p) {
      ++begun;
      return p == 998 ? absl::InternalError("998") : absl::OkStatus();
    });
    EXPECT_EQ(status.message(), "998");
    if (threads == 1) {
      EXPECT_EQ(begun, 2);
    }
  }
}

// Two at a time find no room: all threads give up, and one does the rest.
TEST(Parts, AreDoneAloneWithoutMemory) {
  constexpr int kThreads = 4;
  std::atomic<int> failed = 0;
  std::atomic<int> done = 0;
  const absl::Status status = ForEachPart(20, kThreads, [&](int64_t) {
    if (failed.fetch_add(1) < kThreads) throw std::bad_alloc();
    ++done;
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(done, 20);
}

TEST(Parts, SayThatThereIsNoMemoryAtAll) {
  EXPECT_THROW(
      (void)ForEachPart(
          3, 2, [](int64_t) -> absl::Status { throw std::bad_alloc(); }),
      std::bad_alloc);
}

TEST(Parts, AreAddedInOrder) {
  std::vector<double> sum = {1, 2, 3};
  AddInOrder({{1, 1, 1}, {}, {10}}, sum);
  EXPECT_EQ(sum, (std::vector<double>{12, 3, 4}));
}

}  // namespace
}  // namespace dogged

// Aim: no thread sleeps through a notification; one sleeper at a time also
// wakes for a descriptor, or when its time is over. Method: threads that sleep
// again after each wake-up, and a count of the items that they took.
#include "runtime/exec/event_count.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace dogged {
namespace {

constexpr absl::Duration kLong = absl::Hours(1);

class EventCountTest : public testing::Test {
 protected:
  EventCountTest() : fd_(eventfd(0, EFD_CLOEXEC)) {}
  ~EventCountTest() override { close(fd_); }
  void MakeReadable() const {
    const uint64_t one = 1;
    ASSERT_EQ(write(fd_, &one, sizeof(one)), 8);
  }

  const int fd_;
  EventCount sleepers_;
};

TEST_F(EventCountTest, EndsWithTheDescriptorOrTheTime) {
  sleepers_.WaitForReader(sleepers_.PrepareWait(), fd_, absl::Milliseconds(1));
  MakeReadable();
  sleepers_.WaitForReader(sleepers_.PrepareWait(), fd_, kLong);
  const uint64_t ticket = sleepers_.PrepareWait();
  sleepers_.NotifyOne();
  sleepers_.Wait(ticket);
}

// A notification after the ticket ends the sleep, before or while it lasts.
TEST_F(EventCountTest, EndsWithANotification) {
  const uint64_t ticket = sleepers_.PrepareWait();
  sleepers_.NotifyOne();
  sleepers_.WaitForReader(ticket, fd_, kLong);
  for (int i = 0; i < 1000; ++i) {
    std::atomic<bool> has_work{false};
    std::thread sleeper([&] {
      const uint64_t mine = sleepers_.PrepareWait();
      if (has_work) return sleepers_.CancelWait();
      sleepers_.WaitForReader(mine, fd_, kLong);
      EXPECT_TRUE(has_work);
    });
    has_work = true;
    sleepers_.NotifyOne();
    sleeper.join();
  }
}

// As many sleepers as items, whichever way they sleep.
TEST_F(EventCountTest, EachNotificationWakesOne) {
  constexpr int kSleepers = 4;
  constexpr int kItems = 4000;
  std::atomic<int> items{0};
  std::atomic<int> taken{0};
  const auto take = [&] {
    int left = items.load();
    while (left > 0) {
      if (items.compare_exchange_weak(left, left - 1)) return true;
    }
    return false;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kSleepers; ++i) {
    threads.emplace_back([&] {
      while (taken < kItems) {
        if (take()) {
          if (taken.fetch_add(1) + 1 == kItems) sleepers_.NotifyAll();
          taken.notify_all();
          continue;
        }
        const uint64_t ticket = sleepers_.PrepareWait();
        if (items > 0 || taken == kItems) {
          sleepers_.CancelWait();
        } else {
          sleepers_.WaitForReader(ticket, fd_, kLong);
        }
      }
    });
  }
  for (int i = 0; i < kItems; i += kSleepers) {
    for (int j = 0; j < kSleepers; ++j) {
      items.fetch_add(1);
      sleepers_.NotifyOne();
    }
    for (int seen = taken; seen < i + kSleepers; seen = taken) {
      taken.wait(seen);
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, kItems);
}

}  // namespace
}  // namespace dogged

// Aim: what threads keep of small values goes when a job ends, so that an agent
// that stands has the memory that it had. Method: values are made and dropped,
// on this thread and on another one that lives on.
#include "runtime/base/block_pool.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/value.h"

namespace dogged {
namespace {

// Blocks that a job of scalars leaves behind.
void MakeAndDrop(int count) {
  std::vector<Value> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(Value::Allocate(ElementType::kInt64, {1}));
  }
}

// A thread that does what it is told to, like a worker between jobs.
class Worker {
 public:
  ~Worker() {
    Run(nullptr);
    thread_.join();
  }
  void Run(std::function<void()> task) {
    std::unique_lock lock(mutex_);
    task_ = std::move(task);
    has_task_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !has_task_; });
  }

 private:
  void Work() {
    std::unique_lock lock(mutex_);
    for (bool goes_on = true; goes_on;) {
      changed_.wait(lock, [&] { return has_task_; });
      goes_on = task_ != nullptr;
      if (goes_on) task_();
      has_task_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_task_ = false;
  std::function<void()> task_;
  std::thread thread_{[this] { Work(); }};
};

TEST(BlockPool, KeepsSomeBlocksAndReturnsThemWhenAsked) {
  const int64_t live = LiveBlockBytes();
  for (int job = 0; job < 20; ++job) {
    MakeAndDrop(5000);
#if !defined(__SANITIZE_ADDRESS__)
    EXPECT_GT(KeptBlockBytes(), 0);
#endif
    EXPECT_LE(KeptBlockBytes(), 1024 * 128);
    ReturnKeptBlocks();
    EXPECT_EQ(KeptBlockBytes(), 0);
  }
  EXPECT_EQ(LiveBlockBytes(), live);
}

TEST(BlockPool, AThreadReturnsItsOwnAlone) {
  Worker worker;
  int64_t before = 0;
  int64_t after = -1;
  worker.Run([&] {
    MakeAndDrop(500);
    before = KeptBlockBytes();
  });
  ReturnKeptBlocks();
  worker.Run([&] {
    EXPECT_EQ(KeptBlockBytes(), before);
    ReturnKeptBlocks();
    MakeAndDrop(1);
    after = KeptBlockBytes();
  });
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_GE(before, 500 * 128);
#endif
  EXPECT_LE(after, 128);
}

}  // namespace
}  // namespace dogged

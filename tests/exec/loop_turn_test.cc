// Aim: one thread at a time runs the loop; a worker with nothing to run does so
// while the loop's thread sleeps, and hands the looking out back.
// Method: a loop that counts; a pool of real workers whose loop thread never
// wakes.
#include "runtime/exec/loop_turn.h"

#include <atomic>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/exec/pool.h"
#include "tests/exec/programs.h"

namespace dogged {
namespace {

class CountingLoop : public LoopTurn::Loop {
 public:
  void PassForSleeper() override {
    ++passes;
    is_watched = true;
    has_arrivals = false;
    if (on_pass) on_pass();
  }
  void HandBack() override { is_watched = false; }
  bool HasArrivals() const override {
    if (on_look) on_look();
    return has_arrivals;
  }

  int passes = 0;           // with the turn
  bool is_watched = false;  // by a worker: nobody wakes the loop's thread
  std::atomic<bool> has_arrivals{false};
  std::function<void()> on_pass;
  std::function<void()> on_look;
};

TEST(LoopTurn, BelongsToOneAtATime) {
  LoopTurn turn;
  EXPECT_FALSE(turn.TryPass());  // there is no loop
  CountingLoop loop;
  {
    const auto mine = turn.Take();
    turn.SetLoop(&loop);
    std::thread([&] { EXPECT_FALSE(turn.TryPass()); }).join();
  }
  EXPECT_TRUE(turn.TryPass());
  EXPECT_FALSE(turn.TryArrivals());
  loop.has_arrivals = true;
  EXPECT_TRUE(turn.TryArrivals());
  EXPECT_EQ(loop.passes, 2);
  EXPECT_TRUE(loop.is_watched);
  turn.HandBack();
  EXPECT_FALSE(loop.is_watched);
  const auto mine = turn.Take();
  turn.SetLoop(nullptr);
}

// Whoever made a pass hands back, and that is not lost if another looks just
// then.
TEST(LoopTurn, IsHandedBackWhoeverLooks) {
  LoopTurn turn;
  CountingLoop loop;
  turn.SetLoop(&loop);
  ASSERT_TRUE(turn.TryPass());
  loop.on_look = [&] { std::thread([&] { turn.HandBack(); }).join(); };
  EXPECT_FALSE(turn.TryArrivals());
  EXPECT_FALSE(loop.is_watched);
}

ReadyTask TaskOf(const Kernel& kernel, int64_t i) {
  return {.job = JobId(1),
          .task = {.task_class = 0, .index = {i}},
          .inputs = {Value::Scalar(static_cast<double>(i))},
          .kernel = &kernel,
          .create_count = 1};
}

// The loop's thread sleeps for good: a chain of tasks goes on without it, and
// in the end it is the one that messages wake.
TEST(LoopTurn, WorkersGoOnWithoutTheLoopsThread) {
  constexpr int kTasks = 1000;
  LoopTurn turn;
  CountingLoop loop;
  const FunctionKernel add(AddUp);
  std::optional<Pool> pool;
  std::atomic<int> done{0};
  std::vector<Completion> completions;
  loop.on_pass = [&] {
    completions.clear();
    pool->Poll(completions);
    for (size_t i = 0; i < completions.size(); ++i) {
      const int count = done.fetch_add(1) + 1;
      if (count < kTasks) pool->Submit(TaskOf(add, count));
      done.notify_all();
    }
  };
  turn.SetLoop(&loop);
  std::atomic<int> wakes{0};
  pool.emplace(
      PlaceWorkers(FlatCpuLayout(2), 1), [&] { ++wakes; }, &turn);
  pool->Submit(TaskOf(add, 0));
  for (int seen = 0; seen < kTasks; seen = done.load()) done.wait(seen);
  pool.reset();
  EXPECT_EQ(done.load(), kTasks);
  EXPECT_EQ(wakes.load(), 0);
  EXPECT_FALSE(loop.is_watched);
}

}  // namespace
}  // namespace dogged

// Aim: one thread at a time runs the loop; an idle worker does so while the
// loop's thread sleeps, and hands the polling back. Method: a loop that counts;
// a pool of real workers whose loop thread never wakes.
#include "runtime/exec/loop_turn.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <thread>
#include <utility>
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
  void HandBack() override {
    is_watched = false;
    ++handed_back;
    if (on_hand_back) std::exchange(on_hand_back, nullptr)();
  }
  void Keep() override { ++kept; }
  bool HasArrivals() const override {
    if (on_look) on_look();
    return has_arrivals;
  }
  int listen_fd() const override { return readable; }

  int readable = -1;
  int passes = 0;           // with the turn
  int kept = 0;             // likewise
  int handed_back = 0;      // likewise
  bool is_watched = false;  // by a worker: nobody wakes the loop's thread
  std::atomic<bool> has_arrivals{false};
  std::function<void()> on_pass;
  std::function<void()> on_look;
  std::function<void()> on_hand_back;  // once
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

// A worker that made a pass hands back, and that is not lost if another one
// looks just then.
TEST(LoopTurn, IsHandedBackWhoeverLooks) {
  LoopTurn turn;
  CountingLoop loop;
  turn.SetLoop(&loop);
  ASSERT_TRUE(turn.TryPass());
  loop.on_look = [&] { std::thread([&] { turn.HandBack(); }).join(); };
  EXPECT_FALSE(turn.TryArrivals());
  EXPECT_FALSE(loop.is_watched);
}

// A worker that listened hands back while another one has the turn, which may
// have counted on the listener.
TEST(LoopTurn, IsHandedBackAgainIfOneMetIt) {
  LoopTurn turn;
  CountingLoop loop;
  turn.SetLoop(&loop);
  const auto hand_back = [&] { std::thread([&] { turn.HandBack(); }).join(); };
  loop.on_hand_back = hand_back;
  turn.HandBack();
  EXPECT_EQ(loop.handed_back, 2);
  {
    const auto mine = turn.Take();  // as the loop's thread before it sleeps
    hand_back();
  }
  EXPECT_EQ(loop.handed_back, 2);
  turn.SettleHandBack();
  EXPECT_EQ(loop.handed_back, 3);
  turn.SettleHandBack();
  EXPECT_EQ(loop.handed_back, 3);
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

absl::Status SpinForPasses(KernelCall& call) {
  SystemClock clock;
  const absl::Time end = clock.Now() + absl::Microseconds(100);
  while (clock.Now() < end) {
  }
  return AddUp(call);
}

// Between tasks of the right length a worker passes though it has more to run,
// and looks out meanwhile; the loop's thread is told to see to that.
TEST(LoopTurn, IsKeptBetweenTasks) {
  constexpr int kTasks = 100;
  LoopTurn turn;
  CountingLoop loop;
  const FunctionKernel spin(SpinForPasses);
  std::optional<Pool> pool;
  std::vector<Completion> completions;
  std::atomic<int> done{0};
  loop.on_pass = [&] {
    if (loop.passes > 1 && loop.passes < kTasks) {
      EXPECT_GE(loop.kept + loop.handed_back, loop.passes - 1);
    }
    completions.clear();
    pool->Poll(completions);
    done += static_cast<int>(completions.size());
    done.notify_all();
  };
  std::atomic<int> wakes{0};
  {
    const auto mine = turn.Take();  // till all are queued
    turn.SetLoop(&loop);
    pool.emplace(
        PlaceWorkers(FlatCpuLayout(2), 1), [&] { ++wakes; }, &turn);
    for (int i = 0; i < kTasks; ++i) pool->Submit(TaskOf(spin, i));
  }
  for (int seen = 0; seen < kTasks; seen = done.load()) done.wait(seen);
  pool.reset();
  EXPECT_GT(loop.kept, kTasks / 2);
  EXPECT_LT(wakes, kTasks / 2);
}

// A worker runs one task, then sleeps and listens; true once `event` is there.
bool ComesAfterATask(std::promise<void>& event, CountingLoop& loop) {
  LoopTurn turn;
  const FunctionKernel add(AddUp);
  turn.SetLoop(&loop);
  Pool pool(
      PlaceWorkers(FlatCpuLayout(2), 1), [] {}, &turn);
  pool.Submit(TaskOf(add, 0));
  return event.get_future().wait_for(std::chrono::seconds(60)) ==
         std::future_status::ready;
}

// A worker that has just run a task and sleeps wakes up for a message: it looks
// again after it has handed back, though no task comes.
TEST(LoopTurn, SleepersListen) {
  const int message = eventfd(1, EFD_CLOEXEC);
  ASSERT_GE(message, 0);
  CountingLoop loop;
  loop.readable = message;
  std::promise<void> woke;
  loop.on_look = [&] { loop.has_arrivals = !loop.is_watched; };
  loop.on_pass = [&] {
    if (loop.passes == 2) woke.set_value();
  };
  EXPECT_TRUE(ComesAfterATask(woke, loop));
  close(message);
}

// A ring may come after its message was seen: the worker that wakes makes a
// pass, which takes the ring away, or it would wake again and again.
TEST(LoopTurn, TakesLateRingsAway) {
  const int message = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
  ASSERT_GE(message, 0);
  CountingLoop loop;
  loop.readable = message;
  std::promise<void> taken;
  loop.on_pass = [&] {
    if (loop.passes == 1) return;  // for the task
    uint64_t rings = 0;
    if (read(message, &rings, sizeof(rings)) > 0) taken.set_value();
  };
  EXPECT_TRUE(ComesAfterATask(taken, loop));
  close(message);
}

}  // namespace
}  // namespace dogged

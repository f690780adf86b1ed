// Aim: submitted tasks complete once, urgent ones first, whatever a kernel
// does. Method: real threads; gates instead of sleep.
#include "runtime/exec/pool.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "runtime/base/block_pool.h"
#include "runtime/exec/deque.h"
#include "runtime/exec/host_load.h"
#include "runtime/exec/ready_queues.h"
#include "tests/exec/programs.h"

namespace dogged {
namespace {

// Wakes the test when a completion is there.
class Bell {
 public:
  void Ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    changed_.notify_all();
  }
  void Await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
};

ReadyTask TaskOf(const Kernel& kernel, int64_t i, int64_t priority = 0) {
  return {.job = JobId(1),
          .task = {.task_class = 0, .index = {i}},
          .inputs = {Value::Scalar(static_cast<double>(i))},
          .priority = priority,
          .kernel = &kernel,
          .create_count = 1};
}

std::vector<Completion> Collect(Pool& pool, Bell& bell, size_t count) {
  std::vector<Completion> out;
  while (out.size() < count) {
    bell.Await();
    pool.Poll(out);
  }
  return out;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// In a process that may have no more addresses.
TEST(Pool, SaysWhatLacksWhereNoThreadCanStart) {
  const auto start = [] {
    const rlimit none{.rlim_cur = 1, .rlim_max = 1};
    setrlimit(RLIMIT_AS, &none);
    Pool pool(PlaceWorkers(FlatCpuLayout(1), 3), [] {});
    const bool is_said =
        pool.status().code() == absl::StatusCode::kResourceExhausted &&
        absl::StrContains(pool.status().message(), "worker 1 of 3");
    _exit(is_said ? 0 : 1);
  };
  EXPECT_EXIT(start(), testing::ExitedWithCode(0), "");
}
#endif

// The submitter may be gone before the task runs: an agent that starts again as
// another incarnation, a job that is cancelled.
TEST(Pool, KeepsTheOwnerOfAKernelUntilItHasRun) {
  Bell started;
  Bell go_on;
  Bell bell;
  const FunctionKernel gate([&](KernelCall& call) {
    started.Ring();
    go_on.Await();
    return AddUp(call);
  });
  auto kernel = std::make_shared<const FunctionKernel>(AddUp);
  const std::weak_ptr<const FunctionKernel> watch = kernel;
  Pool pool(PlaceWorkers(FlatCpuLayout(1), 1), [&] { bell.Ring(); });
  pool.Submit(TaskOf(gate, 1));
  started.Await();
  ReadyTask task = TaskOf(*kernel, 2);
  task.owner = kernel;
  pool.Submit(std::move(task));
  kernel.reset();
  EXPECT_FALSE(watch.expired());
  go_on.Ring();
  EXPECT_TRUE(Collect(pool, bell, 2).back().status.ok());
}

TEST(Pool, CompletesEveryTaskOnce) {
  for (const int workers : {1, 2, 5}) {
    Bell bell;
    const FunctionKernel add(AddUp);
    Pool pool(PlaceWorkers(FlatCpuLayout(2), workers), [&] { bell.Ring(); });
    constexpr int64_t kTasks = 2000;
    for (int64_t i = 0; i < kTasks; ++i) pool.Submit(TaskOf(add, i));
    std::set<Task> seen;
    for (const Completion& c : Collect(pool, bell, kTasks)) {
      EXPECT_TRUE(seen.insert(c.task).second);
      ASSERT_TRUE(c.status.ok());
      EXPECT_EQ(c.outputs[0].span<double>()[0],
                static_cast<double>(c.task.index[0]) + 1);
      EXPECT_FALSE(c.outputs[0].digest().IsZero());
      EXPECT_FALSE(c.inputs[0].IsNone());
    }
    EXPECT_EQ(seen.size(), static_cast<size_t>(kTasks));
    EXPECT_EQ(pool.unfinished_count(), 0);
    EXPECT_EQ(pool.idle_workers(), workers);
  }
}

TEST(Pool, TurnsAThrowIntoAnError) {
  Bell bell;
  const FunctionKernel thrower(
      [](KernelCall&) -> absl::Status { throw std::runtime_error("boom"); });
  const FunctionKernel forgetful([](KernelCall&) { return absl::OkStatus(); });
  Pool pool(PlaceWorkers(FlatCpuLayout(1), 1), [&] { bell.Ring(); });
  pool.Submit(TaskOf(thrower, 0));
  std::vector<Completion> done = Collect(pool, bell, 1);
  EXPECT_EQ(done[0].status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(done[0].status.message()),
              testing::HasSubstr("boom"));
  EXPECT_TRUE(done[0].outputs.empty());
  pool.Submit(TaskOf(forgetful, 1));
  done = Collect(pool, bell, 1);
  EXPECT_EQ(done[0].status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(done[0].status.message()),
              testing::HasSubstr("output 0"));
}

// Submits `tasks` while the only worker is held; in which order they ran, by
// the first entry of their index.
std::vector<int64_t> OrderOf(
    absl::FunctionRef<std::vector<ReadyTask>(const Kernel&)> tasks) {
  Bell bell;
  Bell gate;
  Bell started;
  std::vector<int64_t> order;
  const FunctionKernel blocker([&](KernelCall& call) {
    started.Ring();
    gate.Await();
    return AddUp(call);
  });
  const FunctionKernel recorder([&](KernelCall& call) {
    order.push_back(call.task.index[0]);
    return AddUp(call);
  });
  Pool pool(PlaceWorkers(FlatCpuLayout(1), 1), [&] { bell.Ring(); });
  pool.Submit(TaskOf(blocker, 99));
  started.Await();
  size_t count = 1;
  for (ReadyTask& task : tasks(recorder)) {
    pool.Submit(std::move(task));
    ++count;
  }
  gate.Ring();
  Collect(pool, bell, count);
  return order;
}

TEST(Pool, RunsTheMostUrgentFirst) {
  const std::vector<int64_t> order = OrderOf([](const Kernel& kernel) {
    std::vector<ReadyTask> out;
    out.push_back(TaskOf(kernel, 1, 5));
    out.push_back(TaskOf(kernel, 2, 7));
    out.push_back(TaskOf(kernel, 3, 6));
    out.push_back(TaskOf(kernel, 4, 7));
    return out;
  });
  EXPECT_THAT(order, testing::ElementsAre(4, 2, 3, 1));
}

// Whatever their priorities, and however many tasks one of them has.
TEST(Pool, LetsJobsTakeTurns) {
  const std::vector<int64_t> order = OrderOf([](const Kernel& kernel) {
    std::vector<ReadyTask> out;
    for (int64_t i = 0; i < 4; ++i) out.push_back(TaskOf(kernel, i, 1000 + i));
    for (int64_t i = 10; i < 12; ++i) {
      out.push_back(TaskOf(kernel, i));
      out.back().job = JobId(2);
    }
    return out;
  });
  ASSERT_EQ(order.size(), 6u);
  std::vector<int64_t> small;  // when its tasks ran
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] >= 10) small.push_back(static_cast<int64_t>(i));
  }
  EXPECT_LE(small.at(0), 1);
  EXPECT_LE(small.at(1), 3);
}

// Threads of this computer that hold its processors.
class Spinners {
 public:
  explicit Spinners(int count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this] {
        while (!stop_.load()) continue;
      });
    }
  }
  ~Spinners() {
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

TEST(Pool, CountsProcessorsWhereWorkersTakeTurns) {
  const Spinners spinners(2);
  Pool pool(PlaceWorkers(FlatCpuLayout(2), 2), [] {});
  EXPECT_EQ(pool.processor_count(), 2);
  EXPECT_EQ(pool.RunnableWorkers(), 0);
}

TEST(HostLoad, ReadsWhatTheSystemSays) {
  EXPECT_EQ(RunnableOf("0.20 0.18 0.12 3/80 11206\n"), 3);
  for (const char* text :
       {"", "0.20", "0.20 0.18 0.12 80 11206", "0.20 0.18 0.12 x/80 11206",
        "0.20 0.18 0.12 -1/80 11206"}) {
    EXPECT_EQ(RunnableOf(text), std::nullopt) << text;
  }
  EXPECT_GE(RunnableThreads().value_or(1), 1);
}

TEST(Pool, EndsWithTasksQueued) {
  const FunctionKernel add(AddUp);
  Pool pool(PlaceWorkers(FlatCpuLayout(1), 1), [] {});
  for (int64_t i = 0; i < 1000; ++i) pool.Submit(TaskOf(add, i));
}

// Two packages with two cores of two hardware threads each.
CpuLayout TwoPackages() {
  CpuLayout layout;
  for (int32_t i = 0; i < 8; ++i) {
    layout.cpus.push_back({.os_index = i,
                           .core = i / 2,
                           .cache = i / 4,
                           .numa_node = i / 4,
                           .package = i / 4});
  }
  return layout;
}

// All workers but one have queued tasks: that one takes them in order of
// distance.
TEST(ReadyQueues, TakesOfTheNearest) {
  struct Item {
    int64_t priority = 0;
    int at = 0;
  };
  const WorkerPlacement placement = PlaceWorkers(TwoPackages(), 8);
  for (const int thief : {0, 5}) {
    ReadyQueues<Item, Deque<Item>> queues(placement);
    for (int worker = 0; worker < 8; ++worker) {
      if (worker == thief) continue;
      queues.Push(worker, std::make_unique<Item>(Item{.at = worker}));
    }
    std::vector<int> order;
    while (const auto item = queues.Take(thief)) order.push_back(item->at);
    EXPECT_THAT(order, testing::ElementsAreArray(placement.steal_order[thief]));
  }
}

TEST(CpuLayout, StealsFromTheNearestFirst) {
  const CpuLayout layout = TwoPackages();
  const WorkerPlacement placement = PlaceWorkers(layout, 8);
  EXPECT_EQ(placement.os_cpus.size(), 8u);
  EXPECT_THAT(placement.steal_order[0],
              testing::ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(placement.steal_order[5],
              testing::ElementsAre(4, 6, 7, 0, 1, 2, 3));
  EXPECT_TRUE(PlaceWorkers(layout, 3).os_cpus.empty());
  EXPECT_EQ(PlaceWorkers(layout, 20).steal_order[19].size(), 19u);
}

// Notes which threads did a chore.
class Chore {
 public:
  std::function<void()> Work() {
    return [this] {
      const std::lock_guard lock(mutex_);
      threads_.insert(std::this_thread::get_id());
      changed_.notify_all();
    };
  }
  // Returns once `count` were done.
  std::multiset<std::thread::id> Await(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return threads_.size() >= count; });
    return threads_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::multiset<std::thread::id> threads_;
};

TEST(Pool, EachWorkerDoesAChoreOnceThoughItSleeps) {
  Bell bell;
  Pool pool(PlaceWorkers(FlatCpuLayout(2), 3), [&] { bell.Ring(); });
  for (int round = 0; round < 50; ++round) {
    Chore chore;
    pool.OnEachWorker(chore.Work());
    const auto threads = chore.Await(3);
    EXPECT_EQ(std::set(threads.begin(), threads.end()).size(), 3);
    EXPECT_EQ(threads.count(std::this_thread::get_id()), 0);
    // The next chore would find one that a worker did twice.
    Chore next;
    pool.OnEachWorker(next.Work());
    next.Await(3);
    EXPECT_EQ(chore.Await(3).size(), 3);
  }
}

TEST(Pool, WorkersReturnTheBlocksThatTheyKeepAsAChore) {
  Bell bell;
  std::atomic<int64_t> kept{0};
  Pool pool(PlaceWorkers(FlatCpuLayout(2), 2), [&] { bell.Ring(); });
  const FunctionKernel kernel([](KernelCall& call) {
    std::vector<Value> values;
    for (int i = 0; i < 100; ++i) values.push_back(Value::Scalar(i));
    return AddUp(call);
  });
  for (int64_t i = 0; i < 10; ++i) pool.Submit(TaskOf(kernel, i));
  Collect(pool, bell, 10);
  Chore chore;
  pool.OnEachWorker([&, note = chore.Work()] {
    ReturnKeptBlocks();
    kept += KeptBlockBytes();
    note();
  });
  chore.Await(2);
  EXPECT_EQ(kept.load(), 0);
}

}  // namespace
}  // namespace dogged

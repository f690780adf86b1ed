// Pool: the Executor port over worker threads. Kernels run and outputs are
// sealed on the workers; the loop submits and polls, on its own thread or on a
// worker that has nothing to run.
#ifndef DOGGED_RUNTIME_EXEC_POOL_H_
#define DOGGED_RUNTIME_EXEC_POOL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/fair_queue.h"
#include "runtime/exec/loop_turn.h"
#include "runtime/exec/ready_queues.h"
#include "runtime/exec/worker_threads.h"

namespace dogged {

class Pool : public Executor {
 public:
  // `on_completion` is called on a worker when Poll() has something after it
  // had nothing, and wakes the loop thread. It must not call the pool. With a
  // `turn`, which outlives the pool, a worker with nothing to run makes a pass
  // of the loop instead where it can. If status() is an error, there are fewer
  // workers than `placement` says.
  Pool(const WorkerPlacement& placement, std::function<void()> on_completion,
       LoopTurn* turn = nullptr);
  // Waits for the kernels that run; drops queued tasks.
  ~Pool() override;

  // Errors: kResourceExhausted if the system gave too few threads.
  const absl::Status& status() const { return threads_.status(); }
  // Jobs take turns; the most urgent task of a job runs first, the newest among
  // equals.
  void Submit(ReadyTask task) override;
  void Poll(std::vector<Completion>& completions) override;
  // Each worker calls `chore` once, as soon as it has no task to run; it takes
  // the place of one that a worker has not come to.
  void OnEachWorker(std::function<void()> chore);
  int worker_count() const override { return placement_.worker_count; }
  int processor_count() const override { return placement_.processor_count; }
  int RunnableWorkers() const override;
  int64_t unfinished_count() const override { return unfinished_.load(); }
  bool LooksOut() const override { return looking_out_.load() > 0; }

 private:
  struct Duty;
  void Work(int worker);
  // Returns when there may be work.
  void AwaitWork(Duty& duty);
  Completion Execute(ReadyTask& task);
  void DoChore(Duty& duty);
  // True if this worker made a pass to hand it over.
  bool Complete(Completion completion, bool passes_often);

  const WorkerPlacement placement_;
  const std::function<void()> on_completion_;
  LoopTurn* const turn_;  // may be null
  SystemClock clock_;
  ReadyQueues<ReadyTask, FairQueue<ReadyTask>> queues_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> unfinished_{0};
  std::atomic<int> looking_out_{0};
  int next_worker_ = 0;  // of the loop
  std::mutex mutex_;
  std::vector<Completion> completions_;  // under mutex_
  std::function<void()> chore_;          // likewise
  std::atomic<int64_t> chore_count_{0};  // changes under mutex_
  WorkerThreads threads_;                // last: they use all of the above
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_POOL_H_

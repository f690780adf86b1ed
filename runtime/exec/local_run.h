// LocalRun: runs a whole program in this process, without an agent. Tasks go
// from ready to bound to their consumers on the workers alone.
//
// Order: a consumer that became ready runs next on the worker whose output it
// reads; then the worker's own queue, newest first; then consumers of a label
// that has very many; then the oldest of the nearest worker; then a leaf, as
// long as live values are below the start limit. With priorities, each worker
// takes the most urgent of its queue, but first a task that its last one has
// made ready: updates of a tile follow one another while it is in the cache,
// unless others are more urgent by far.
//
// Memory: the frontier. A value lives until the last task that reads it has
// looked it up, or runs with it (InputTable); a task that would make a full
// queue longer runs at once. Leaves and the consumers of a high-fanout label
// are drawn in batches, as many as run in some microseconds: a batch belongs to
// its worker and is not stolen from.
//
// Source: [DAGuE] for the epilogue on the worker; section on scheduling.
#ifndef DOGGED_RUNTIME_EXEC_LOCAL_RUN_H_
#define DOGGED_RUNTIME_EXEC_LOCAL_RUN_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/exec/activation_table.h"
#include "runtime/exec/deque.h"
#include "runtime/exec/input_table.h"
#include "runtime/exec/needed.h"
#include "runtime/exec/ready_queues.h"
#include "runtime/exec/result_count.h"
#include "runtime/exec/round_gate.h"
#include "runtime/exec/task_sources.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/relations.h"

namespace dogged {

struct LocalRunOptions {
  WorkerPlacement placement;
  // No leaf starts while more bytes than this are in live values, unless
  // nothing else can run.
  int64_t start_bytes_max = int64_t{1} << 30;
  // Called for every result, once each, sealed; from the workers, never two
  // calls at a time. An error ends the run.
  std::function<absl::Status(const Label&, const Value&)> on_result;
};

struct LocalProgress {
  int64_t tasks_executed = 0;
  int64_t results_bound = 0;
  double flops = 0;  // as far as kernels declare them
  // For a program that repeats: its parameter in the newest round that is known
  // to exist, and whether that is the last one.
  int64_t time = 0;
  bool has_ended = true;
};

class LocalRun {
 public:
  // `relations` and `kernels` (one for each of the program's) outlive the run.
  LocalRun(const Relations& relations, const KernelTable& kernels,
           LocalRunOptions options);
  LocalRun(const LocalRun&) = delete;
  LocalRun& operator=(const LocalRun&) = delete;

  // Runs until all results are bound; once per object. Calls `poll` from this
  // thread about every `interval` until it returns false, which cancels.
  //
  // After an error the kernels are stopped, for good.
  //
  // Errors: the first task that failed, named; kCancelled; kInternal if nothing
  //         is left to run and a result is unbound.
  absl::Status Run(absl::Duration interval,
                   absl::FunctionRef<bool(const LocalProgress&)> poll);
  absl::Status Run();

  // Tasks that some result needs.
  int64_t needed_count() const { return needed_.count(); }
  // Thread-safe; exact once Run() has returned.
  LocalProgress Progress() const;

 private:
  // State of one worker, apart from the others' cache lines.
  struct alignas(64) Worker {
    int id = 0;
    ActivationPool pool;
    std::vector<std::unique_ptr<Activation>> ready;  // not yet queued
    int depth = 0;  // tasks run from within an epilogue
    TaskBatch batch;
    std::unique_ptr<Activation> batch_record;  // holds the batch's value
    int64_t batch_max = 1;                     // of the next batch
    absl::Time batch_begin;
    int64_t results = 0;  // bound, and not yet counted for all
    std::atomic<int64_t> executed{0};
    std::atomic<double> flops{0};
  };

  void Work(Worker& worker);
  // The next task for `worker`; null if it found none.
  std::unique_ptr<Activation> TakeTask(Worker& worker);
  std::unique_ptr<Activation> TakeLeaf(Worker& worker, bool always);
  // `record`, or a leaf where that is far more urgent.
  std::unique_ptr<Activation> OrLeaf(Worker& worker,
                                     std::unique_ptr<Activation> record);
  // The next of the worker's batch that can run; null if none can.
  std::unique_ptr<Activation> TakeOfBatch(Worker& worker);
  // How many tasks the next batch may have, by the time that the last one took.
  int64_t NextBatchMax(Worker& worker);
  // Waits until there may be work; counts workers that wait, and ends the run
  // when all do and no task can start.
  void AwaitWork(Worker& worker);
  void RunTask(Worker& worker, std::unique_ptr<Activation> record);
  // Keeps the record for the rest of the worker's batch, or for any task.
  static void Recycle(Worker& worker, std::unique_ptr<Activation> record);
  void Bind(Worker& worker, const Label& label, Value& value);
  // Tasks that `label` begins behind `last`, by its use `use`, wait until a
  // worker draws them.
  void LeaveConsumers(const Label& label, const Task& last, int use,
                      const Value& value);
  void Release(Worker& worker, std::unique_ptr<Activation> record);
  // Queues tasks that became ready; returns the task to run next, if any.
  std::unique_ptr<Activation> FlushReady(Worker& worker, bool keep_one);
  // Binds a label of a loop and starts the tasks, leaves and results that this
  // opens.
  // Errors: as on_result.
  absl::Status BindOfLoop(Worker& worker, const Label& label, Value& value);
  // Errors: as on_result.
  absl::Status DeliverResult(Worker& worker, const Label& label, int64_t count,
                             Value& value);
  // Adds to the results that all workers have bound; ends the run with the
  // last.
  void CountResults(int64_t count);
  void Finish(absl::Status status);
  bool MayStartLeaf() const;

  const Relations& relations_;
  const KernelTable& kernels_;
  const LocalRunOptions options_;
  const NeededTasks needed_;
  const bool by_priority_;
  RoundGate gate_;
  ResultCount results_;
  InputTable inputs_;
  ReadyQueues<Activation, Deque<Activation>> queues_;
  std::vector<std::unique_ptr<Worker>> workers_;

  SystemClock clock_;
  TaskSources sources_;
  // Priority of the leaf that was drawn last.
  std::atomic<int64_t> leaf_priority_{std::numeric_limits<int64_t>::max()};
  std::atomic<bool> held_back_{false};  // a worker sleeps for want of memory
  std::atomic<int> waiting_count_{0};

  std::mutex result_mutex_;

  std::atomic<bool> stop_{false};
  std::mutex finish_mutex_;
  std::condition_variable finished_;
  absl::Status status_;  // under finish_mutex_
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_LOCAL_RUN_H_

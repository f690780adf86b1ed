// The Executor port in virtual time: kernels run inline when their time is up,
// on a given number of workers, each task with a duration by chance.
#ifndef DOGGED_RUNTIME_SIM_EXECUTOR_H_
#define DOGGED_RUNTIME_SIM_EXECUTOR_H_

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/exec/executor.h"
#include "runtime/sim/event_queue.h"
#include "runtime/sim/trace.h"

namespace dogged {

class SimExecutor : public Executor {
 public:
  SimExecutor(EventQueue& queue, int workers, absl::Duration task_time, Rng rng,
              std::function<void()> wake, ValueMemory* memory = nullptr);
  // Notes tasks that run here from now on, as of `agent`.
  void Trace(AgentId agent, const SimTrace& trace) {
    agent_ = agent;
    trace_ = trace;
  }
  // From now on a task finds no memory for its outputs, with `probability`.
  void LackMemory(double probability) { no_memory_ = probability; }
  // Hears of each task that ends, before the agent does.
  void OnEnded(std::function<void(const Completion&)> hears) {
    on_ended_ = std::move(hears);
  }
  ~SimExecutor() override;
  void Submit(ReadyTask task) override;
  void Poll(std::vector<Completion>& completions) override;
  int worker_count() const override { return workers_; }
  int64_t unfinished_count() const override {
    return std::ssize(waiting_) + running_;
  }

 private:
  void StartSome();
  void CheckInputs(const ReadyTask& task) const;
  void Finish(ReadyTask task, absl::Duration elapsed);
  void Note(SimEvent::Kind kind, const Task& task, bool is_ok) const;

  EventQueue& queue_;
  const int workers_;
  const absl::Duration task_time_;
  Rng rng_;
  std::function<void()> wake_;
  ValueMemory* const memory_;  // where kernels' outputs lie; null: the heap
  double no_memory_ = 0;
  AgentId agent_;
  SimTrace trace_;
  std::function<void(const Completion&)> on_ended_;
  std::deque<ReadyTask> waiting_;
  int running_ = 0;
  std::vector<Completion> completions_;
  // Events that come after a crash find this false.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_EXECUTOR_H_

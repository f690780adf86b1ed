#include "runtime/exec/pool.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/exec/host_load.h"

namespace dogged {

Pool::Pool(const WorkerPlacement& placement,
           std::function<void()> on_completion, LoopTurn* turn)
    : placement_(placement),
      on_completion_(std::move(on_completion)),
      turn_(turn),
      queues_(placement, /*by_priority=*/true),
      threads_(placement, [this](int worker) { Work(worker); }) {}

Pool::~Pool() {
  stop_.store(true);
  queues_.WakeAll();
}

int Pool::RunnableWorkers(int host_workers) const {
  if (host_workers <= placement_.processor_count) return worker_count();
  const std::optional<int> runnable = RunnableThreads();
  if (!runnable.has_value()) return worker_count();
  // The caller's thread is one of them, and about to sleep.
  return std::clamp(placement_.processor_count - (*runnable - 1), 0,
                    worker_count());
}

void Pool::Submit(ReadyTask task) {
  unfinished_.fetch_add(1);
  // The shortest queue, in turn among equals; thieves even out the rest.
  int best = next_worker_;
  for (int step = 1; step < worker_count(); ++step) {
    const int worker = (next_worker_ + step) % worker_count();
    if (queues_.SizeOf(worker) < queues_.SizeOf(best)) best = worker;
  }
  next_worker_ = (best + 1) % worker_count();
  queues_.Push(best, std::make_unique<ReadyTask>(std::move(task)));
}

void Pool::Poll(std::vector<Completion>& completions) {
  const std::lock_guard lock(mutex_);
  for (Completion& completion : completions_) {
    completions.push_back(std::move(completion));
  }
  completions_.clear();
}

void Pool::Work(int worker) {
  bool passed = false;  // and has not handed back yet
  while (!stop_.load()) {
    std::unique_ptr<ReadyTask> task = queues_.Take(worker);
    if (task == nullptr) {
      AwaitWork(passed);
      continue;
    }
    if (std::exchange(passed, false)) turn_->HandBack();
    passed = Complete(Execute(*task));
  }
  if (passed) turn_->HandBack();
}

void Pool::AwaitWork(bool& passed) {
  const auto is_over = [this] { return stop_.load(); };
  if (turn_ == nullptr) return queues_.AwaitWork(is_over);
  looking_out_.fetch_add(1);
  const bool found = queues_.LookOut(is_over, [&] {
    const bool has_arrivals = turn_->TryArrivals();
    passed |= has_arrivals;
    return has_arrivals;
  });
  looking_out_.fetch_sub(1);
  if (found) return;
  if (std::exchange(passed, false)) turn_->HandBack();
  queues_.Sleep(is_over);
}

Completion Pool::Execute(ReadyTask& task) {
  const absl::Time start = clock_.Now();
  Completion out{.job = task.job, .task = task.task};
  out.outputs.resize(static_cast<size_t>(task.create_count));
  out.status = RunKernel(*task.kernel, task.task, absl::MakeSpan(task.inputs),
                         absl::MakeSpan(out.outputs));
  if (out.status.ok()) {
    for (Value& value : out.outputs) value.Seal();
  } else {
    out.outputs.clear();
  }
  out.inputs = std::move(task.inputs);
  out.elapsed = clock_.Now() - start;
  return out;
}

bool Pool::Complete(Completion completion) {
  bool was_empty;
  {
    const std::lock_guard lock(mutex_);
    was_empty = completions_.empty();
    completions_.push_back(std::move(completion));
    unfinished_.fetch_sub(1);
  }
  // Whoever has more to run leaves it to the loop's thread to go on.
  const bool passed = turn_ != nullptr && queues_.IsEmpty() && turn_->TryPass();
  if (was_empty && !passed) on_completion_();
  return passed;
}

}  // namespace dogged

#include "runtime/exec/pool.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/exec/host_load.h"

namespace dogged {

Pool::Pool(const WorkerPlacement& placement,
           std::function<void()> on_completion)
    : placement_(placement),
      on_completion_(std::move(on_completion)),
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
  while (!stop_.load()) {
    if (std::unique_ptr<ReadyTask> task = queues_.Take(worker)) {
      Complete(Execute(*task));
    } else {
      queues_.AwaitWork([this] { return stop_.load(); });
    }
  }
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

void Pool::Complete(Completion completion) {
  bool was_empty;
  {
    const std::lock_guard lock(mutex_);
    was_empty = completions_.empty();
    completions_.push_back(std::move(completion));
    unfinished_.fetch_sub(1);
  }
  if (was_empty) on_completion_();
}

}  // namespace dogged

#include "runtime/sim/executor.h"

#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/hash.h"

namespace dogged {

SimExecutor::SimExecutor(EventQueue& queue, int workers,
                         absl::Duration task_time, Rng rng,
                         std::function<void()> wake, ValueMemory* memory)
    : queue_(queue),
      workers_(workers),
      task_time_(task_time),
      rng_(rng),
      wake_(std::move(wake)),
      memory_(memory) {}

SimExecutor::~SimExecutor() { *alive_ = false; }

void SimExecutor::Submit(ReadyTask task) {
  waiting_.push_back(std::move(task));
  StartSome();
}

void SimExecutor::StartSome() {
  while (running_ < workers_ && !waiting_.empty()) {
    ++running_;
    ReadyTask task = std::move(waiting_.back());  // newest first
    waiting_.pop_back();
    Note(SimEvent::Kind::kTaskStarted, task.task, /*is_ok=*/true);
    // Now and then a task takes ten times as long.
    const double factor =
        0.5 + rng_.Unit() + (rng_.Chance(0.02) ? 10 * rng_.Unit() : 0);
    const absl::Duration elapsed = task_time_ * factor;
    queue_.After(elapsed, [this, alive = alive_, elapsed,
                           task = std::move(task)]() mutable {
      if (*alive) Finish(std::move(task), elapsed);
    });
  }
}

// Views are of memory that another agent owns, and gives back when it takes
// nobody to read it any more.
void SimExecutor::CheckInputs(const ReadyTask& task) const {
  for (const Value& input : task.inputs) {
    if (!input.IsView()) continue;
    DOGGED_CHECK(Hash128(input.view()) == input.digest())
        << "agent " << agent_.ToString()
        << " reads a lent value that its owner has overwritten";
  }
}

void SimExecutor::Finish(ReadyTask task, absl::Duration elapsed) {
  --running_;
  CheckInputs(task);
  Completion done{.job = task.job, .task = task.task, .elapsed = elapsed};
  done.outputs.resize(task.create_count);
  SetValueMemory(memory_);
  done.status = RunKernel(*task.kernel, task.task, absl::MakeSpan(task.inputs),
                          absl::MakeSpan(done.outputs));
  SetValueMemory(nullptr);
  if (no_memory_ > 0 && rng_.Chance(no_memory_)) {
    done.status = absl::ResourceExhaustedError("no memory for a value");
  }
  if (done.status.ok()) {
    for (Value& value : done.outputs) {
      task.lazy_digests ? value.SealLazily() : value.Seal();
    }
  } else {
    done.outputs.clear();
  }
  Note(SimEvent::Kind::kTaskEnded, done.task, done.status.ok());
  if (on_ended_ != nullptr) on_ended_(done);
  completions_.push_back(std::move(done));
  StartSome();
  wake_();
}

void SimExecutor::Note(SimEvent::Kind kind, const Task& task,
                       bool is_ok) const {
  if (trace_ == nullptr) return;
  trace_({.kind = kind,
          .time = queue_.now(),
          .agent = agent_,
          .task = task,
          .is_ok = is_ok});
}

void SimExecutor::Poll(std::vector<Completion>& completions) {
  for (Completion& c : completions_) completions.push_back(std::move(c));
  completions_.clear();
}

}  // namespace dogged

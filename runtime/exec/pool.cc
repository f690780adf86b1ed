#include "runtime/exec/pool.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/exec/host_load.h"

namespace dogged {
namespace {

// A worker whose last task was not longer ago wakes up for messages, too, and
// need not be woken for a task that one of them makes ready. An agent that has
// nothing to do wakes one thread for them, not two.
constexpr absl::Duration kListens = absl::Seconds(1);

// A worker whose tasks take that long makes a pass after each of them, and
// looks out for the loop meanwhile: no thread has to wake up for a task that
// ends or for a message. Shorter tasks end in numbers that the loop's thread
// sees in one pass; during longer ones messages would wait too long.
constexpr absl::Duration kPassAfter = absl::Microseconds(50);
constexpr absl::Duration kPassWithin = absl::Milliseconds(2);

}  // namespace

// Duty: a worker's part in running the loop.
struct Pool::Duty {
  bool passes_often = false;  // as its last task took the right time for that
  bool was_short = false;     // its last task
  bool passed = false;        // or listened, and has not handed back yet
  absl::Time listens_until = absl::InfinitePast();
  int64_t chore_count = 0;  // of chores that it has done or let be
};

Pool::Pool(const WorkerPlacement& placement,
           std::function<void()> on_completion, LoopTurn* turn)
    : placement_(placement),
      on_completion_(std::move(on_completion)),
      turn_(turn),
      queues_(placement),
      threads_(placement, [this](int worker) { Work(worker); }) {}

Pool::~Pool() {
  stop_.store(true);
  queues_.WakeAll();
}

int Pool::RunnableWorkers() const {
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

void Pool::OnEachWorker(std::function<void()> chore) {
  {
    const std::lock_guard lock(mutex_);
    chore_ = std::move(chore);
    chore_count_.fetch_add(1);
  }
  queues_.WakeAll();
}

void Pool::DoChore(Duty& duty) {
  std::function<void()> chore;
  {
    const std::lock_guard lock(mutex_);
    chore = chore_;
    duty.chore_count = chore_count_.load();
  }
  chore();
}

void Pool::Work(int worker) {
  Duty duty;
  while (!stop_.load()) {
    std::unique_ptr<ReadyTask> task = queues_.Take(worker);
    if (task == nullptr) {
      AwaitWork(duty);
      continue;
    }
    // It makes a pass after this task, which will be as short as the last one.
    const bool keeps =
        duty.passes_often || (duty.was_short && queues_.IsEmpty());
    if (duty.passed && !(keeps && turn_->TryKeep())) {
      turn_->HandBack();
      duty.passed = false;
    }
    Completion completion = Execute(*task);
    duty.passes_often =
        completion.elapsed >= kPassAfter && completion.elapsed <= kPassWithin;
    duty.was_short = completion.elapsed < kPassAfter;
    duty.passed |= Complete(std::move(completion), duty.passes_often);
    duty.listens_until = clock_.Now() + kListens;
  }
  if (duty.passed) turn_->HandBack();
}

void Pool::AwaitWork(Duty& duty) {
  if (duty.chore_count != chore_count_.load()) DoChore(duty);
  const auto is_over = [this, &duty] {
    return stop_.load() || duty.chore_count != chore_count_.load();
  };
  if (turn_ == nullptr) return queues_.AwaitWork(is_over);
  looking_out_.fetch_add(1);
  const bool found = queues_.LookOut(is_over, [&] {
    const bool has_arrivals = turn_->TryArrivals();
    duty.passed |= has_arrivals;
    return has_arrivals;
  });
  looking_out_.fetch_sub(1);
  if (found) return;
  const absl::Duration listens = duty.listens_until - clock_.Now();
  const int fd = listens > absl::ZeroDuration() ? turn_->Listen() : -1;
  if (std::exchange(duty.passed, false) || fd >= 0) turn_->HandBack();
  const bool has_rung = queues_.Sleep(is_over, fd, listens);
  if (fd < 0) return;
  turn_->StopListening();
  duty.passed = true;
  // Also if nothing has arrived: a late ring is to be taken away.
  if (has_rung) (void)turn_->TryPass();
}

Completion Pool::Execute(ReadyTask& task) {
  const absl::Time start = clock_.Now();
  Completion out{.job = task.job, .task = task.task};
  out.outputs.resize(task.create_count);
  out.status = RunKernel(*task.kernel, task.task, absl::MakeSpan(task.inputs),
                         absl::MakeSpan(out.outputs));
  if (out.status.ok()) {
    for (Value& value : out.outputs) {
      task.lazy_digests ? value.SealLazily() : value.Seal();
    }
  } else {
    out.outputs.clear();
  }
  out.inputs = std::move(task.inputs);
  out.elapsed = clock_.Now() - start;
  return out;
}

bool Pool::Complete(Completion completion, bool passes_often) {
  bool was_empty;
  {
    const std::lock_guard lock(mutex_);
    was_empty = completions_.empty();
    completions_.push_back(std::move(completion));
    unfinished_.fetch_sub(1);
  }
  // A worker with more tasks leaves the pass to the loop's thread.
  const bool passed = turn_ != nullptr && (passes_often || queues_.IsEmpty()) &&
                      turn_->TryPass();
  if (was_empty && !passed) on_completion_();
  return passed;
}

}  // namespace dogged

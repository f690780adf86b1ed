#include "runtime/exec/local_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"
#include "runtime/exec/worker_threads.h"

namespace dogged {
namespace {

// Beyond so many ready tasks of one worker a further one runs at once.
constexpr int64_t kQueueMax = 4096;
// Tasks that one epilogue has made ready before it queues them.
constexpr size_t kReadyMax = 256;
// Epilogues within epilogues: bounds the stack.
constexpr int kDepthMax = 4;
// Leaves that a worker starts at a time.
constexpr int kLeafBatch = 4;

bool HasPriorities(const Program& program) {
  return std::any_of(
      program.classes.begin(), program.classes.end(),
      [](const TaskClass& c) { return c.priority != AffineExpr{}; });
}

}  // namespace

LocalRun::LocalRun(const Relations& relations, const KernelTable& kernels,
                   LocalRunOptions options)
    : relations_(relations),
      kernels_(kernels),
      options_(std::move(options)),
      needed_(relations),
      by_priority_(HasPriorities(relations.program())),
      result_count_(relations.program().ResultCount()),
      table_(relations),
      queues_(options_.placement, by_priority_),
      leaves_(relations) {
  DOGGED_CHECK(kernels.size() == relations.program().kernels.size())
      << kernels.size() << " kernels";
  for (const ResultSet& set : relations.program().results) {
    result_sets_.emplace_back(set.map, set.domain);
  }
  for (int i = 0; i < options_.placement.worker_count; ++i) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->id = i;
  }
}

absl::Status LocalRun::Run() {
  return Run(absl::Hours(1), [](const LocalProgress&) { return true; });
}

absl::Status LocalRun::Run(absl::Duration interval,
                           absl::FunctionRef<bool(const LocalProgress&)> poll) {
  if (result_count_ == 0) return absl::OkStatus();
  WorkerThreads threads(options_.placement, [this](int worker) {
    Work(*workers_[static_cast<size_t>(worker)]);
  });
  std::unique_lock lock(finish_mutex_);
  while (!stop_.load()) {
    finished_.wait_for(lock, absl::ToChronoMicroseconds(interval));
    if (stop_.load()) break;
    lock.unlock();
    if (!poll(Progress())) Finish(absl::CancelledError("cancelled"));
    lock.lock();
  }
  return status_;
}

LocalProgress LocalRun::Progress() const {
  LocalProgress out{.results_bound = results_bound_.load()};
  for (const auto& worker : workers_) {
    out.tasks_executed += worker->executed.load(std::memory_order_relaxed);
    out.flops += worker->flops.load(std::memory_order_relaxed);
  }
  return out;
}

void LocalRun::Finish(absl::Status status) {
  {
    const std::lock_guard lock(finish_mutex_);
    if (stop_.load()) return;
    status_ = std::move(status);
    stop_.store(true);
  }
  finished_.notify_all();
  queues_.WakeAll();
}

void LocalRun::Work(Worker& worker) {
  std::unique_ptr<Activation> record;
  while (!stop_.load(std::memory_order_relaxed)) {
    if (record == nullptr) record = TakeTask(worker);
    if (record == nullptr) {
      AwaitWork(worker);
      continue;
    }
    RunTask(worker, std::move(record));
    record = FlushReady(worker, /*keep_one=*/!by_priority_);
    if (held_back_.load(std::memory_order_relaxed) && MayStartLeaf()) {
      held_back_.store(false);
      queues_.WakeOne();
    }
  }
}

bool LocalRun::MayStartLeaf() const {
  return Value::LiveBytes() < options_.start_bytes_max;
}

std::unique_ptr<Activation> LocalRun::TakeTask(Worker& worker) {
  if (auto record = queues_.Take(worker.id)) return record;
  return TakeLeaf(worker, /*always=*/false);
}

std::unique_ptr<Activation> LocalRun::TakeLeaf(Worker& worker, bool always) {
  if (!leaves_left_.load(std::memory_order_relaxed)) return nullptr;
  if (!always && !MayStartLeaf()) {
    held_back_.store(true);
    return nullptr;
  }
  {
    const std::lock_guard lock(leaf_mutex_);
    for (int i = 0; i < kLeafBatch;) {
      const std::optional<Task> task = leaves_.Next();
      if (!task.has_value()) {
        leaves_left_.store(false);
        break;
      }
      if (!needed_.Contains(*task)) continue;
      const TaskClass& c =
          relations_.program().classes[static_cast<size_t>(task->task_class)];
      worker.ready.push_back(
          worker.pool.Get(*task, static_cast<int>(c.uses.size())));
      ++i;
    }
  }
  // In order: the first runs now, the second is the newest of the queue.
  std::reverse(worker.ready.begin(), worker.ready.end());
  return FlushReady(worker, /*keep_one=*/true);
}

void LocalRun::AwaitWork(Worker& worker) {
  // Whoever counts as waiting has an empty queue and holds no task. So when all
  // wait, nothing is ready anywhere: a leaf must start, or the run is over.
  const int waiting = waiting_count_.fetch_add(1) + 1;
  if (waiting == static_cast<int>(workers_.size())) {
    waiting_count_.fetch_sub(1);
    if (auto record = TakeLeaf(worker, /*always=*/true)) {
      queues_.Push(worker.id, std::move(record));
    } else {
      Finish(absl::InternalError(absl::StrCat(
          "nothing is left to run, but ", result_count_ - results_bound_.load(),
          " of ", result_count_, " results are unbound")));
    }
    return;
  }
  queues_.AwaitWork([this] {
    return stop_.load() ||
           (leaves_left_.load(std::memory_order_relaxed) && MayStartLeaf());
  });
  waiting_count_.fetch_sub(1);
}

void LocalRun::RunTask(Worker& worker, std::unique_ptr<Activation> record) {
  const Task task = record->task;
  const TaskClass& task_class =
      relations_.program().classes[static_cast<size_t>(task.task_class)];
  const Kernel& kernel = *kernels_[static_cast<size_t>(task_class.kernel)];
  ValueList outputs(task_class.creates.size());
  const absl::Status status = RunKernel(
      kernel, task, absl::MakeSpan(record->inputs), absl::MakeSpan(outputs));
  if (!status.ok()) {
    Finish(NameTask(status, relations_.program(), task));
    return;
  }
  worker.pool.Put(std::move(record));
  worker.executed.store(worker.executed.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
  worker.flops.store(
      worker.flops.load(std::memory_order_relaxed) + kernel.Flops(task),
      std::memory_order_relaxed);
  relations_.ForEachCreated(task, [&](int create, const Label& label) {
    Bind(worker, label, outputs[static_cast<size_t>(create)]);
  });
}

void LocalRun::Bind(Worker& worker, const Label& label, Value& value) {
  if (const int64_t count = ResultsAt(label); count > 0) {
    if (absl::Status status = DeliverResult(label, count, value);
        !status.ok()) {
      Finish(std::move(status));
      return;
    }
  }
  relations_.ForEachConsumer(label, [&](const Task& task, int use) {
    if (!needed_.Contains(task)) return true;
    auto record = table_.Mark(task, use, value, worker.pool);
    if (record != nullptr) Release(worker, std::move(record));
    return !stop_.load(std::memory_order_relaxed);
  });
}

void LocalRun::Release(Worker& worker, std::unique_ptr<Activation> record) {
  if (by_priority_) {
    const TaskClass& c =
        relations_.program()
            .classes[static_cast<size_t>(record->task.task_class)];
    record->priority = c.priority.Evaluate(record->task.index);
  }
  if (worker.ready.size() >= kReadyMax) FlushReady(worker, /*keep_one=*/false);
  if (worker.depth < kDepthMax && queues_.SizeOf(worker.id) >= kQueueMax) {
    ++worker.depth;
    RunTask(worker, std::move(record));
    --worker.depth;
    return;
  }
  worker.ready.push_back(std::move(record));
}

std::unique_ptr<Activation> LocalRun::FlushReady(Worker& worker,
                                                 bool keep_one) {
  std::unique_ptr<Activation> next;
  if (keep_one && !worker.ready.empty()) {
    next = std::move(worker.ready.back());
    worker.ready.pop_back();
  }
  for (auto& record : worker.ready) {
    queues_.Push(worker.id, std::move(record));
  }
  worker.ready.clear();
  return next;
}

int64_t LocalRun::ResultsAt(const Label& label) const {
  int64_t count = 0;
  for (size_t s = 0; s < result_sets_.size(); ++s) {
    if (relations_.program().results[s].array != label.array) continue;
    result_sets_[s].ForEach(label.index, [&count](const IndexVector&) {
      ++count;
      return true;
    });
  }
  return count;
}

absl::Status LocalRun::DeliverResult(const Label& label, int64_t count,
                                     Value& value) {
  value.Seal();
  const std::lock_guard lock(result_mutex_);
  if (stop_.load()) return absl::OkStatus();
  if (options_.on_result) {
    DOGGED_RETURN_IF_ERROR(options_.on_result(label, value));
  }
  if (results_bound_.fetch_add(count) + count == result_count_) {
    Finish(absl::OkStatus());
  }
  return absl::OkStatus();
}

}  // namespace dogged

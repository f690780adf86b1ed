#include "runtime/exec/local_run.h"

#include <algorithm>
#include <tuple>
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
// How much more urgent others may be than a task that runs next because its
// worker made it ready.
constexpr int64_t kAheadMax = 512;
// Consumers of one label wait until a worker draws them once so many others of
// it have become ready, or have begun.
constexpr int64_t kReadyAtOnce = 256;
constexpr int64_t kBegunAtOnce = 1 << 16;
// A batch grows up to this while it takes less than kBatchTime.
constexpr int64_t kBatchMax = 256;
constexpr absl::Duration kBatchTime = absl::Microseconds(20);

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
      gate_(relations),
      results_(gate_.TakeResultCount()),
      inputs_(relations, needed_, options_.placement.worker_count),
      queues_(options_.placement, by_priority_),
      sources_(relations, needed_,
               gate_.IsLoop() ? gate_.Time().first : INT64_MAX) {
  DOGGED_CHECK(kernels.size() == relations.program().kernels.size())
      << kernels.size() << " kernels";
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
  if (results_.total() == 0) return absl::OkStatus();
  WorkerThreads threads(options_.placement,
                        [this](int worker) { Work(*workers_[worker]); });
  if (!threads.status().ok()) Finish(threads.status());
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
  LocalProgress out{.results_bound = results_.bound()};
  std::tie(out.time, out.has_ended) = gate_.Time();
  for (const auto& worker : workers_) {
    out.tasks_executed += worker->executed.load(std::memory_order_relaxed);
    out.flops += worker->flops.load(std::memory_order_relaxed);
  }
  return out;
}

void LocalRun::Finish(absl::Status status) {
  const bool is_ok = status.ok();
  {
    const std::lock_guard lock(finish_mutex_);
    if (stop_.load()) return;
    status_ = std::move(status);
    stop_.store(true);
  }
  // The run does not wait for a kernel that may never return.
  if (!is_ok) StopKernels(kernels_);
  finished_.notify_all();
  queues_.WakeAll();
}

void LocalRun::Work(Worker& worker) {
  std::unique_ptr<Activation> record;
  while (!stop_.load(std::memory_order_relaxed)) {
    if (record == nullptr) record = TakeTask(worker);
    if (by_priority_) record = OrLeaf(worker, std::move(record));
    if (record == nullptr) {
      CountResults(std::exchange(worker.results, 0));
      AwaitWork(worker);
      continue;
    }
    RunTask(worker, std::move(record));
    record = FlushReady(worker, /*keep_one=*/true);
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
  if (auto record = queues_.TakeOwn(worker.id)) return record;
  if (!worker.batch.IsEmpty()) return TakeOfBatch(worker);
  if (sources_.HasConsumers() &&
      sources_.DrawConsumers(NextBatchMax(worker), worker.batch)) {
    worker.batch_record = nullptr;
    return TakeOfBatch(worker);
  }
  if (auto record = queues_.Steal(worker.id)) return record;
  return TakeLeaf(worker, /*always=*/false);
}

std::unique_ptr<Activation> LocalRun::TakeLeaf(Worker& worker, bool always) {
  if (!sources_.HasLeaves()) return nullptr;
  if (!always && !MayStartLeaf()) {
    held_back_.store(true);
    return nullptr;
  }
  const int64_t max = always ? 1 : NextBatchMax(worker);
  while (sources_.DrawLeaves(max, worker.batch) && !stop_.load()) {
    worker.batch_record = nullptr;
    // A batch may hold no leaf at all: some domains are not exact.
    if (auto record = TakeOfBatch(worker)) {
      const TaskClass& c = relations_.ClassOf(record->task);
      leaf_priority_.store(c.priority.Evaluate(record->task.index),
                           std::memory_order_relaxed);
      return record;
    }
  }
  return nullptr;
}

std::unique_ptr<Activation> LocalRun::OrLeaf(
    Worker& worker, std::unique_ptr<Activation> record) {
  if (record == nullptr || !sources_.HasLeaves()) return record;
  const int64_t ahead =
      leaf_priority_.load(std::memory_order_relaxed) - kAheadMax;
  if (record->priority >= ahead) return record;
  // Leaves that the worker has drawn come first.
  const bool has_batch = !worker.batch.IsEmpty();
  if (has_batch && worker.batch.use >= 0) return record;
  auto leaf =
      has_batch ? TakeOfBatch(worker) : TakeLeaf(worker, /*always=*/false);
  if (leaf == nullptr) return record;
  queues_.Push(worker.id, std::move(record));
  return leaf;
}

std::unique_ptr<Activation> LocalRun::TakeOfBatch(Worker& worker) {
  TaskBatch& batch = worker.batch;
  std::unique_ptr<Activation> record;
  while (record == nullptr && !batch.IsEmpty()) {
    const Task task = batch.Take();
    if (!sources_.IsWanted(batch, task)) continue;
    if (batch.use < 0) {
      const TaskClass& c = relations_.ClassOf(task);
      record = worker.pool.Get(task, static_cast<int>(c.uses.size()));
    } else if (worker.batch_record != nullptr) {
      // The record's input is still there: tasks that share one value need not
      // all count their references to it.
      record = std::move(worker.batch_record);
      record->task = task;
    } else {
      record = inputs_.Begin(task, batch.use, batch.value, worker.pool);
    }
  }
  if (batch.IsEmpty()) batch.value = Value();
  return record;
}

int64_t LocalRun::NextBatchMax(Worker& worker) {
  const absl::Time now = clock_.Now();
  const bool is_short = now - worker.batch_begin < kBatchTime;
  worker.batch_max = is_short ? std::min(2 * worker.batch_max, kBatchMax)
                              : std::max<int64_t>(worker.batch_max / 2, 1);
  worker.batch_begin = now;
  return worker.batch_max;
}

void LocalRun::AwaitWork(Worker& worker) {
  // A worker that counts as waiting has an empty queue and holds no task. So
  // when all wait, nothing is ready anywhere: a leaf must start, or the run is
  // over.
  const int waiting = waiting_count_.fetch_add(1) + 1;
  if (waiting == std::ssize(workers_)) {
    waiting_count_.fetch_sub(1);
    if (sources_.HasConsumers() || !queues_.IsEmpty()) return;
    if (auto record = TakeLeaf(worker, /*always=*/true)) {
      queues_.Push(worker.id, std::move(record));
    } else {
      Finish(absl::InternalError(absl::StrCat(
          "nothing is left to run, but ", results_.total() - results_.bound(),
          " of ", results_.total(), " results are unbound")));
    }
    return;
  }
  queues_.AwaitWork([this] {
    return stop_.load() || sources_.HasConsumers() ||
           (sources_.HasLeaves() && MayStartLeaf());
  });
  waiting_count_.fetch_sub(1);
}

void LocalRun::RunTask(Worker& worker, std::unique_ptr<Activation> record) {
  record = gate_.Admit(std::move(record));
  if (record == nullptr) return;
  const Task task = record->task;
  const TaskClass& task_class = relations_.ClassOf(task);
  const Kernel& kernel = *kernels_[task_class.kernel];
  ValueList outputs(task_class.creates.size());
  const absl::Status status = RunKernel(
      kernel, task, absl::MakeSpan(record->inputs), absl::MakeSpan(outputs));
  if (!status.ok()) {
    Finish(NameTask(status, relations_.program(), task));
    return;
  }
  Recycle(worker, std::move(record));
  worker.executed.store(worker.executed.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
  worker.flops.store(
      worker.flops.load(std::memory_order_relaxed) + kernel.Flops(task),
      std::memory_order_relaxed);
  relations_.ForEachCreated(task, [&](int create, const Label& label) {
    Bind(worker, label, outputs[create]);
  });
}

void LocalRun::Recycle(Worker& worker, std::unique_ptr<Activation> record) {
  const TaskBatch& batch = worker.batch;
  if (record->inputs.size() == 1 && !batch.IsEmpty() &&
      worker.batch_record == nullptr && batch.IsFor(*record)) {
    worker.batch_record = std::move(record);
  } else {
    worker.pool.Put(std::move(record));
  }
}

void LocalRun::Bind(Worker& worker, const Label& label, Value& value) {
  absl::Status status;
  if (gate_.IsLoop()) {
    status = BindOfLoop(worker, label, value);
  } else if (const int64_t count = gate_.ResultsAt(label); count > 0) {
    status = DeliverResult(worker, label, count, value);
  }
  if (!status.ok()) {
    Finish(std::move(status));
    return;
  }
  int64_t ready_left = kReadyAtOnce;
  int64_t begun_left = kBegunAtOnce;
  // A cursor here would cost each task a tenth of its time.
  Task last;
  int last_use = -1;
  inputs_.Bind(label, value, [&](std::unique_ptr<Activation> record) {
    Release(worker, std::move(record));
  });
  inputs_.ForEachBegun(label, [&](const Task& task, int use) {
    auto record = inputs_.Begin(task, use, value, worker.pool);
    if (record != nullptr) {
      Release(worker, std::move(record));
      --ready_left;
    }
    if (ready_left == 0 || --begun_left == 0) {
      last = task;
      last_use = use;
      return false;
    }
    return !stop_.load(std::memory_order_relaxed);
  });
  if (last_use >= 0) LeaveConsumers(label, last, last_use, value);
}

void LocalRun::LeaveConsumers(const Label& label, const Task& last, int use,
                              const Value& value) {
  sources_.AddConsumers(ConsumerCursor(relations_, label, last, use), value);
  queues_.WakeAll();
}

void LocalRun::Release(Worker& worker, std::unique_ptr<Activation> record) {
  if (by_priority_) {
    const TaskClass& c = relations_.ClassOf(record->task);
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
    // The newest, of the most urgent.
    size_t best = worker.ready.size() - 1;
    for (size_t i = best; by_priority_ && i-- > 0;) {
      if (worker.ready[i]->priority > worker.ready[best]->priority) best = i;
    }
    std::swap(worker.ready[best], worker.ready.back());
    next = std::move(worker.ready.back());
    worker.ready.pop_back();
  }
  for (auto& record : worker.ready) {
    queues_.Push(worker.id, std::move(record));
  }
  worker.ready.clear();
  if (!by_priority_ || next == nullptr) return next;
  // Nor does a chain run ahead of all that is due before it: its values would
  // be held until the others have come up with it.
  if (!queues_.HasMoreUrgent(worker.id, next->priority + kAheadMax)) {
    return next;
  }
  queues_.Push(worker.id, std::move(next));
  return queues_.TakeOwn(worker.id);
}

absl::Status LocalRun::BindOfLoop(Worker& worker, const Label& label,
                                  Value& value) {
  RoundGate::Opened opened = gate_.Bind(label, value);
  if (opened.window.has_value()) {
    sources_.AddLeaves(opened.window->first, opened.window->second);
    queues_.WakeAll();
  }
  for (auto& record : opened.tasks) Release(worker, std::move(record));
  if (opened.result_count.has_value()) {
    // Workers may have delivered all results before the count was known.
    if (results_.SetTotal(*opened.result_count)) Finish(absl::OkStatus());
  }
  for (auto& [result, kept] : opened.results) {
    DOGGED_RETURN_IF_ERROR(
        DeliverResult(worker, result, gate_.ResultsAt(result), kept));
  }
  return absl::OkStatus();
}

absl::Status LocalRun::DeliverResult(Worker& worker, const Label& label,
                                     int64_t count, Value& value) {
  if (options_.on_result) {
    value.SealLazily();
    const std::lock_guard lock(result_mutex_);
    if (stop_.load()) return absl::OkStatus();
    DOGGED_RETURN_IF_ERROR(options_.on_result(label, value));
  }
  // Within a batch, workers need not compete for one counter.
  worker.results += count;
  if (worker.batch.IsEmpty() || options_.on_result) {
    CountResults(std::exchange(worker.results, 0));
  }
  return absl::OkStatus();
}

void LocalRun::CountResults(int64_t count) {
  if (count == 0) return;
  if (results_.Add(count)) Finish(absl::OkStatus());
}

}  // namespace dogged

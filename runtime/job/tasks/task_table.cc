#include "runtime/job/tasks/task_table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/base/check.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// As much ready work as keeps the workers busy over one pass of the loop, which
// takes no longer than this unless tasks do. No more: tasks that wait at the
// executor cannot be granted.
constexpr absl::Duration kPassTime = absl::Milliseconds(4);
// And no more tasks, however short: they and their successors leave the caches.
constexpr int64_t kQueuedMax = 256;
// Leaves that are looked at before other work has its turn: some milliseconds.
constexpr int kLeavesAtOnce = 1 << 14;
// Shorter tasks make so little that to find out its readers costs more than its
// digest.
constexpr absl::Duration kAskedFor = absl::Microseconds(20);

// Readers of a label that are gone through to see whether all are here.
constexpr int64_t kConsumersAsked = 16;

}  // namespace

TaskTable::TaskTable(JobContext& job, LabelTable& labels, JobStorage& storage,
                     std::shared_ptr<const KernelTable> kernels)
    : job_(job),
      labels_(labels),
      storage_(storage),
      kernels_(std::move(kernels)),
      activations_(job.relations),
      claims_(job.limits.claims_max) {}

bool TaskTable::IsDone(const Task& task) const {
  const Label first = job_.relations.FirstCreated(task);
  if (labels_.shard.IsBound(first)) return true;
  // Nothing orders the versions of a row of leaves.
  if (job_.relations.RequiredCount(task) == 0) {
    return labels_.watermarks.IsRetired(first) ||
           labels_.watermarks.WasOvertaken(first);
  }
  return labels_.watermarks.WasBound(first);
}

bool TaskTable::IsDemanded(const Task& task) const {
  return demanded_.Contains(task) ||
         (!remote_.empty() && remote_.contains(task));
}

bool TaskTable::IsComplete(const Task& task) const {
  return in_flight_.contains(task) || future_.Contains(task);
}

bool TaskTable::IsMissing(const Task& task, const Label& label) const {
  bool found = false;
  job_.relations.ForEachRequired(task, [&](int use, const Label& required) {
    found |= required == label && IsMissing(task, use);
  });
  return found;
}

void TaskTable::DropTask(const Task& task) {
  if (auto record = unsupplied_.Remove(task); record != nullptr) {
    job_.inputs->Unpin(task);
    in_flight_.erase(task);
    activation_pool_.Put(std::move(record));
  }
  if (storage_.Drop(task)) in_flight_.erase(task);
  if (auto record = future_.Remove(task); record != nullptr) {
    activation_pool_.Put(std::move(record));
  }
  if (auto record = ready_.Remove(task); record != nullptr) {
    in_flight_.erase(task);
    activation_pool_.Put(std::move(record));
  }
  if (auto record = stealing_.Remove(task); record != nullptr) {
    in_flight_.erase(task);
    activation_pool_.Put(std::move(record));
  }
  if (auto record = activations_.Remove(task); record != nullptr) {
    activation_pool_.Put(std::move(record));
  }
  demanded_.Erase(task);
  remote_.erase(task);
}

void TaskTable::MarkInput(const Task& task, int use, const Value& value) {
  if (IsComplete(task)) return;
  auto record = activations_.Mark(task, use, value, activation_pool_);
  if (record != nullptr) Submit(std::move(record));
}

void TaskTable::SetKernels(std::shared_ptr<const KernelTable> kernels) {
  kernels_ = std::move(kernels);
  storage_.SetKernels(kernels_, job_.executor.worker_count());
}

int64_t TaskTable::executing_count() const {
  return std::ssize(in_flight_) - ready_.size() - unsupplied_.size();
}

void TaskTable::Submit(std::unique_ptr<Activation> record) {
  const Task& task = record->task;
  if (job_.IsUnable()) {
    remote_.erase(task);
    return activation_pool_.Put(std::move(record));
  }
  if (job_.goal.rounds.IsAhead(task)) {
    future_.Put(std::move(record));
    return;
  }
  in_flight_.insert(task);
  record->priority = job_.relations.ClassOf(task).priority.Evaluate(task.index);
  record = stealing_.GrantIfExpected(std::move(record));
  if (record == nullptr) return;
  if (!MayStart() || IsHeld(task)) {
    ready_.Put(std::move(record));
  } else {
    Start(std::move(record));
  }
}

int64_t TaskTable::running_count() const {
  return executing_count() - stealing_.granted_count() -
         storage_.loading_count();
}

// The workers can do with another task of this job; other jobs have their own
// share.
bool TaskTable::MayStart() const {
  return kernels_ != nullptr && !paused_ && running_count() < QueueTarget();
}

bool TaskTable::IsHeld(const Task& task) const {
  return labels_.handover.IsAwaiting() &&
         labels_.handover.IsHeld(
             labels_.places.KeyOf(job_.relations.FirstCreated(task)),
             job_.self) &&
         labels_.places.IsMine(task);
}

// All it makes was bound or dropped, as far as watermarks say.
bool TaskTable::IsWhollyDone(const Task& task) const {
  bool done = true;
  const bool is_leaf = job_.relations.RequiredCount(task) == 0;
  job_.relations.ForEachCreated(task, [&](int, const Label& label) {
    done &= is_leaf ? labels_.watermarks.IsRetired(label) ||
                          labels_.watermarks.WasOvertaken(label)
                    : labels_.watermarks.WasBound(label);
  });
  return done;
}

bool TaskTable::IsInternal(const Task& task) const {
  bool is_internal = true;
  job_.relations.ForEachCreated(task, [&](int, const Label& label) {
    is_internal =
        is_internal && labels_.places.HoldersOf(label).size() == 1 &&
        labels_.places.IsHome(label) &&
        job_.relations.ConsumerCount(label) <= kConsumersAsked &&
        job_.relations.ForEachConsumer(label, [&](const Task& reader, int) {
          return labels_.places.IsMine(reader);
        });
  });
  return is_internal;
}

void TaskTable::StartReady() {
  while (!ready_.empty() && MayStart()) {
    auto record =
        ready_.Take([this](const Task& task) { return !IsHeld(task); });
    if (record == nullptr) return;
    // The watermarks of its outputs may have come after its inputs.
    const Task task = record->task;
    if (!IsDemanded(task) && IsWhollyDone(task)) {
      in_flight_.erase(task);
      activation_pool_.Put(std::move(record));
      continue;
    }
    Start(std::move(record));
  }
}

void TaskTable::Start(std::unique_ptr<Activation> record) {
  if (storage_.MustLoad(*record)) {
    storage_.AddLoading(std::move(record));
  } else {
    Execute(std::move(record));
  }
}

// Drops an input that `kernel` updates in place. A later demand hears that the
// label was retired; if it is certain, the label is made again from the
// retained generation below it.
void TaskTable::ReleaseInputsEarly(const Activation& record,
                                   const Kernel& kernel) {
  if (!job_.forward || storage_.has_store()) return;
  job_.relations.ForEachRequired(record.task, [&](int use, const Label& label) {
    if (!kernel.Updates(use)) return;
    const LabelEntry* entry = labels_.shard.Find(label);
    const bool is_ours = entry != nullptr && entry->is_home &&
                         !entry->is_exposed && entry->copies.empty() &&
                         entry->waiters.empty() &&
                         entry->value.IsSameBlock(record.inputs[use]);
    if (!is_ours || labels_.high_fanout.HasHighFanout(label) ||
        job_.relations.ConsumerCount(label) != 1 ||
        job_.goal.rounds.IsResult(label) ||
        labels_.watermarks.IsRetainedGeneration(label) ||
        labels_.watermarks.IsRecomputing(label)) {
      return;
    }
    const std::optional<Task> producer = job_.relations.ProducerOf(label);
    if (!entry->producer_reported && producer.has_value()) {
      // A report stands for all outputs.
      int outputs = 0;
      job_.relations.ForEachCreated(*producer,
                                    [&](int, const Label&) { ++outputs; });
      if (outputs != 1) return;
      labels_.watermarks.NoteReleasedEarly(label, entry->consumers);
    }
    labels_.watermarks.NoteRetired(label);
    labels_.shard.Erase(label);
  });
}

// Once for each execution: watermarks come doubled and for tasks that never
// run.
void TaskTable::CountReads(const Activation& record) {
  job_.relations.ForEachRequired(record.task, [&](int use, const Label& label) {
    const int64_t bytes = record.inputs[use].bytes();
    const LabelEntry* entry = labels_.shard.Find(label);
    if (entry != nullptr && entry->made_here) {
      ++job_.stats.reads_local;
      job_.stats.bytes_read_local += bytes;
    } else {
      ++job_.stats.reads_remote;
      job_.stats.bytes_read_remote += bytes;
    }
  });
}

bool TaskTable::HasInputs(const Activation& record) {
  if (job_.inputs == nullptr) return true;
  const TaskClass& task_class = job_.relations.ClassOf(record.task);
  const Kernel& kernel = *(*kernels_)[task_class.kernel];
  return !kernel.ReadsInputs() || job_.inputs->Pin(record.task, kernel);
}

void TaskTable::StartSupplied() {
  if (job_.inputs == nullptr) return;
  for (const Task& task : job_.inputs->TakeReady()) {
    auto record = unsupplied_.Remove(task);
    if (record != nullptr) Execute(std::move(record));
  }
  job_.stats.input_bytes_received = job_.inputs->counts().received_bytes;
  job_.stats.input_bytes_supplied = job_.inputs->counts().supplied_bytes;
  job_.stats.input_bytes_read = job_.inputs->counts().read_bytes;
}

void TaskTable::Execute(std::unique_ptr<Activation> record) {
  if (!HasInputs(*record)) return unsupplied_.Put(std::move(record));
  CountReads(*record);
  const Task& task = record->task;
  const TaskClass& task_class = job_.relations.ClassOf(task);
  const auto makes_results = [&] {
    bool out = false;
    job_.relations.ForEachCreated(task, [&](int, const Label& label) {
      out |= job_.goal.rounds.IsResult(label);
    });
    return out;
  };
  ReleaseInputsEarly(*record, *(*kernels_)[task_class.kernel]);
  job_.times.NoteSubmitted(task.task_class);
  job_.executor.Submit(
      {.job = job_.id,
       .task = task,
       .inputs = std::move(record->inputs),
       .priority = record->priority,
       .kernel = (*kernels_)[task_class.kernel].get(),
       .create_count = static_cast<int>(task_class.creates.size()),
       .lazy_digests = job_.times.usual() >= kAskedFor && !job_.HasLost() &&
                       !storage_.has_store() && IsInternal(task) &&
                       !makes_results(),
       .owner = kernels_});
  activation_pool_.Put(std::move(record));
}

bool TaskTable::StartLeaf(const Task& task) {
  if (in_flight_.contains(task) || job_.goal.rounds.IsAhead(task)) return false;
  const TaskClass& task_class = job_.relations.ClassOf(task);
  auto record =
      activation_pool_.Get(task, static_cast<int>(task_class.uses.size()));
  Submit(std::move(record));
  return true;
}

bool TaskTable::StartNextLeaf() {
  for (int i = 0; i < kLeavesAtOnce && leaves_.has_value(); ++i) {
    const std::optional<Task> task = leaves_->Next();
    if (!task.has_value()) {
      leaves_.reset();
    } else if (labels_.places.IsMine(*task) && !IsDone(*task) &&
               StartLeaf(*task)) {
      return true;
    }
  }
  return false;
}

void TaskTable::Suffer(TroubleKind kind, absl::Status cause) {
  if (cause.ok()) {
    const bool ends = kind == TroubleKind::kSlow && job_.trouble.kind == kind;
    if (ends) job_.trouble.kind = TroubleKind::kNotice;
    return;
  }
  if (!job_.trouble.cause.ok() && kind <= job_.trouble.kind) return;
  job_.trouble.kind = kind;
  job_.trouble.cause = std::move(cause);
  if (kind != TroubleKind::kUnable) return;
  Pause();
  // Other agents run the tasks that have not started: also granted ones, about
  // which their homes hear no more.
  std::vector<Task> waiting = ready_.All();
  for (const Task& task : storage_.AllLoading()) waiting.push_back(task);
  for (const auto& [task, remote] : remote_) {
    if (!in_flight_.contains(task)) waiting.push_back(task);
  }
  for (const Task& task : waiting) DropTask(task);
}

// `from` tells that it has `label`. An agent that was silent for too long does
// not know that its task was run elsewhere meanwhile.
void TaskTable::CountIfLate(const Label& label, AgentId from) {
  const std::optional<Task> producer = job_.relations.ProducerOf(label);
  if (producer.has_value() && stealing_.NoteLate(*producer, from) &&
      IsDone(*producer)) {
    ++job_.stats.tasks_duplicated;
  }
}

// The holders of a moved task's inputs tell the new home.
void TaskTable::DropMovedTasks() {
  std::vector<Task> moved;
  // Granted tasks stay while their granter is their home.
  const auto look_at = [&](const Task& task) {
    const auto remote = remote_.find(task);
    const AgentId before =
        remote == remote_.end() || remote->second.granter.IsNone()
            ? job_.self
            : remote->second.granter;
    if (labels_.places.HomeOf(task) != before) moved.push_back(task);
  };
  activations_.ForEach([&](const Activation& record) {
    look_at(record.task);
    return true;
  });
  for (const Task& task : demanded_.All()) look_at(task);
  for (const Task& task : storage_.AllLoading()) look_at(task);
  for (const Task& task : unsupplied_.All()) look_at(task);
  for (const Task& task : ready_.All()) look_at(task);
  for (const Task& task : future_.All()) look_at(task);
  for (const Task& task : stealing_.Granted()) look_at(task);
  for (const Task& task : moved) DropTask(task);
  for (const Task& task : in_flight_) {
    if (!labels_.places.IsMine(task))
      labels_.handover.Give(labels_.places.HomeOf(task), task);
  }
}

// Running tasks go on, and their homes, which may be others now, hear so
// (SweepStealing). Walks claim the tasks that they find at their present home.
void TaskTable::ClaimMovedTasks() {
  for (const Task& task : in_flight_) {
    if (labels_.places.IsMine(task)) {
      remote_.erase(task);
    } else {
      remote_[task] = {.wanted = job_.relations.FirstCreated(task),
                       .granted = true,
                       .granter = labels_.places.HomeOf(task)};
    }
  }
}

void TaskTable::DrawLeaves(bool anew) {
  leaves_.emplace(
      job_.relations,
      anew || leaves_.has_value() ? INT64_MIN : job_.goal.leaves_until,
      job_.goal.LeavesUntil());
  job_.goal.leaves_until = job_.goal.LeavesUntil();
}

void TaskTable::StartRound() {
  const auto may_start = [this](const Task& task) {
    return !job_.goal.rounds.IsAhead(task);
  };
  while (auto record = future_.Take(may_start)) Submit(std::move(record));
}

void TaskTable::EndDemand(const Task& task) {
  demanded_.Erase(task);
  remote_.erase(task);
}

void TaskTable::Return(std::unique_ptr<Activation> record) {
  const Task task = record->task;
  in_flight_.erase(task);
  for (size_t use = 0; use < record->inputs.size(); ++use) {
    const Value& input = record->inputs[use];
    if (input.IsNone() || input.IsSpilled()) continue;
    (void)activations_.Mark(task, static_cast<int>(use), input,
                            activation_pool_);
  }
  activation_pool_.Put(std::move(record));
}

int64_t TaskTable::QueueTarget() const {
  const int64_t workers = job_.executor.worker_count();
  if (job_.times.HasUnknown()) return workers;
  const absl::Duration usual_task = job_.times.usual();
  const auto count = static_cast<int64_t>(
      kPassTime / std::max(usual_task, absl::Microseconds(1)));
  // The pause between two tasks is nothing beside long ones.
  const int64_t least = usual_task < 10 * kPassTime ? 2 * workers : workers;
  return std::max(least, std::min(count * workers, kQueuedMax));
}

void TaskTable::ReplaceInputs(absl::FunctionRef<Value(const Value&)> visit) {
  activations_.ReplaceInputs(visit);
  ready_.ReplaceInputs(visit);
}

const char* TaskTable::PlaceOf(const Task& task) const {
  const std::pair<bool, const char*> places[] = {
      {stealing_.IsGranted(task), "granted"},
      {ready_.Contains(task), "ready"},
      {storage_.IsLoading(task), "loading"},
      {unsupplied_.Contains(task), "unsupplied"}};
  const char* found = nullptr;
  for (const auto& [is_there, name] : places) {
    if (!is_there) continue;
    DOGGED_CHECK(found == nullptr) << "task " << job_.program().TaskText(task)
                                   << " is " << found << " and " << name;
    found = name;
  }
  return found;
}

void TaskTable::CheckInvariants() const {
  const auto name = [this](const Task& task) {
    return job_.program().TaskText(task);
  };
  int64_t placed = 0;
  for (const Task& task : in_flight_) {
    placed += PlaceOf(task) != nullptr;
    DOGGED_CHECK(!future_.Contains(task))
        << "task " << name(task) << " is in flight and of a future round";
  }
  const int64_t in_places = stealing_.granted_count() + ready_.size() +
                            storage_.loading_count() + unsupplied_.size();
  DOGGED_CHECK(placed == in_places)
      << placed << " tasks in flight are in a place, and places have "
      << in_places;
  activations_.ForEach([&](const Activation& record) {
    DOGGED_CHECK(record.missing_count > 0)
        << "task " << name(record.task) << " waits for nothing";
    DOGGED_CHECK(!in_flight_.contains(record.task) &&
                 !future_.Contains(record.task))
        << "task " << name(record.task) << " waits and is complete";
    int missing = 0;
    job_.relations.ForEachRequired(record.task, [&](int use, const Label&) {
      missing += record.inputs[use].IsNone();
    });
    DOGGED_CHECK(missing == record.missing_count)
        << "task " << name(record.task) << " lacks " << missing
        << " inputs and counts " << record.missing_count;
    return true;
  });
}

}  // namespace dogged

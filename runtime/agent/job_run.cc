#include "runtime/agent/job_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// As much ready work as keeps the workers busy over one pass of the loop, which
// takes no longer than this unless tasks do. No more: what waits at the
// executor no other agent can take.
constexpr absl::Duration kPassTime = absl::Milliseconds(4);
constexpr int64_t kQueuedMax = 4096;
// Demands that are followed, and leaves that are looked at, before others have
// their turn: some milliseconds.
constexpr int kExpandedAtOnce = 256;
// Where tasks run or wait for the executor, the search may take its time; what
// they make ready may not wait for it.
constexpr int kExpandedBesideWork = 4;
constexpr int kLeavesAtOnce = 1 << 14;

// Shorter tasks make so little that to find out who reads it costs more than
// its digest.
constexpr absl::Duration kAskedFor = absl::Microseconds(20);

// Some pin intervals, as far back as tasks are made again while pins live; and
// 32 MB.
constexpr int64_t kDigestVersions = 64;
constexpr int64_t kDigestsMax = int64_t{1} << 21;

int64_t QueueTarget(const Executor& executor, const TaskTimes& times) {
  const int64_t workers = executor.worker_count();
  if (times.HasUnknown()) return workers;
  const absl::Duration usual_task = times.usual();
  const auto count = static_cast<int64_t>(
      kPassTime / std::max(usual_task, absl::Microseconds(1)));
  // The pause between two tasks is nothing beside long ones.
  const int64_t least = usual_task < 10 * kPassTime ? 2 * workers : workers;
  return std::max(least, std::min(count * workers, kQueuedMax));
}

absl::Status CheckMemory(const JobStorage& storage,
                         const Completion& completion) {
  if (storage.bytes_max() == 0) return absl::OkStatus();
  if (storage.has_store()) {
    int64_t bytes = 0;
    for (const Value& output : completion.outputs) bytes += output.bytes();
    for (const Value& input : completion.inputs) {
      if (!input.IsNone()) bytes += input.bytes();
    }
    return storage.Judge(completion.task, bytes);
  }
  if (storage.live_bytes() <= storage.bytes_max()) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "it holds ", storage.live_bytes(),
      " bytes of values, more than --memory ", storage.bytes_max(),
      "; give it more, start more agents, or run with --replicas 1"));
}

// The task that a message about a label names, if it does.
template <typename Body>
const Task* TaskOf(const Body& body) {
  if constexpr (requires { body.task; }) {
    return body.task.has_value() ? &*body.task : nullptr;
  } else {
    return nullptr;
  }
}

}  // namespace

JobRun::JobRun(JobParts parts)
    : self_(parts.self),
      id_(parts.id),
      job_(std::move(parts.job)),
      kernels_(std::move(parts.kernels)),
      options_(parts.options),
      limits_(parts.limits),
      executor_(*parts.executor),
      rng_(parts.rng),
      relations_(job_->program),
      // Running forward wastes nothing only where every task is needed.
      forward_(!options_.search_only && job_->program.every_task_needed),
      marks_(relations_, limits_.pin_interval),
      digests_(kDigestVersions, kDigestsMax),
      places_(self_, options_.replicas, relations_, marks_),
      wide_(relations_),
      activations_(relations_),
      storage_(std::move(parts.storage), parts.values, relations_, shard_,
               activations_, parked_),
      lending_(parts.lending),
      inputs_(parts.inputs),
      open_(limits_.open_demands_max),
      copy_queue_(limits_),
      mail_({.self = self_, .job = id_}, limits_.bulk_bytes_max,
            *parts.multicast, stats_),
      credit_(limits_.credit_bytes, std::move(parts.queued_bytes),
              *parts.multicast),
      search_(limits_.claims_max),
      root_(relations_),
      times_(job_->program.classes.size(), limits_) {}

bool JobRun::IsDone(const Task& task) const {
  const Label first = relations_.FirstCreated(task);
  const Entry* entry = shard_.Find(first);
  if (entry != nullptr && !entry->value.IsNone()) return true;
  // Nothing orders the versions of a row of leaves.
  if (relations_.RequiredCount(task) == 0) {
    return marks_.IsRetired(first) || marks_.WasOvertaken(first);
  }
  return marks_.WasBound(first);
}

bool JobRun::IsPursued(const Task& task) const {
  return pursuits_.Contains(task) ||
         (!search_.picked.empty() && search_.picked.contains(task));
}

bool JobRun::IsComplete(const Task& task) const {
  return in_flight_.contains(task) || root_.ahead.Contains(task);
}

void JobRun::DropTask(const Task& task) {
  if (auto record = unsupplied_.Remove(task); record != nullptr) {
    inputs_->Unpin(task);
    in_flight_.erase(task);
    activation_pool_.Put(std::move(record));
  }
  if (storage_.Drop(task)) in_flight_.erase(task);
  if (auto record = root_.ahead.Remove(task); record != nullptr) {
    activation_pool_.Put(std::move(record));
  }
  if (auto record = parked_.Remove(task); record != nullptr) {
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
  pursuits_.Erase(task);
  search_.picked.erase(task);
}

void JobRun::MarkInput(const Task& task, int use, const Value& value) {
  if (IsComplete(task)) return;
  auto record = activations_.Mark(task, use, value, activation_pool_);
  if (record != nullptr) Submit(std::move(record));
}

void JobRun::SetKernels(std::shared_ptr<const KernelTable> kernels) {
  kernels_ = std::move(kernels);
  storage_.SetKernels(kernels_, executor_.worker_count());
}

int64_t JobRun::executing_count() const {
  return static_cast<int64_t>(in_flight_.size()) - parked_.size() -
         unsupplied_.size();
}

void JobRun::Submit(std::unique_ptr<Activation> record) {
  const Task& task = record->task;
  if (IsUnable()) {
    search_.picked.erase(task);
    return activation_pool_.Put(std::move(record));
  }
  if (root_.rounds.IsAhead(task)) {
    root_.ahead.Put(std::move(record));
    return;
  }
  in_flight_.insert(task);
  record->priority =
      program().classes[static_cast<size_t>(task.task_class)].priority.Evaluate(
          task.index);
  record = stealing_.GiveIfExpected(std::move(record));
  if (record == nullptr) return;
  if (!MayStart() || IsHeld(task)) {
    parked_.Put(std::move(record));
  } else {
    Start(std::move(record));
  }
}

int64_t JobRun::running_count() const {
  return executing_count() - stealing_.given_count() - storage_.staged_count();
}

// The workers can do with one more of this job; others have their own share.
bool JobRun::MayStart() const {
  return kernels_ != nullptr && !paused_ &&
         running_count() < QueueTarget(executor_, times_);
}

bool JobRun::IsHeld(const Task& task) const {
  return handover_.IsAwaiting() &&
         handover_.IsHeld(places_.KeyOf(relations_.FirstCreated(task)),
                          self_) &&
         places_.IsMine(task);
}

// All it makes was bound or dropped, as far as marks say.
bool JobRun::IsWhollyDone(const Task& task) const {
  bool done = true;
  const bool is_leaf = relations_.RequiredCount(task) == 0;
  relations_.ForEachCreated(task, [&](int, const Label& label) {
    done &= is_leaf ? marks_.IsRetired(label) || marks_.WasOvertaken(label)
                    : marks_.WasBound(label);
  });
  return done;
}

void JobRun::StartParked() {
  while (!parked_.empty() && MayStart()) {
    auto record =
        parked_.Take([this](const Task& task) { return !IsHeld(task); });
    if (record == nullptr) return;
    // Its marks may have come after its inputs.
    const Task task = record->task;
    if (!IsPursued(task) && IsWhollyDone(task)) {
      in_flight_.erase(task);
      activation_pool_.Put(std::move(record));
      continue;
    }
    Start(std::move(record));
  }
}

void JobRun::Start(std::unique_ptr<Activation> record) {
  if (storage_.MustStage(*record)) {
    storage_.Stage(std::move(record));
  } else {
    Execute(std::move(record));
  }
}

// Once for each execution: marks come doubled and for tasks that never run.
void JobRun::CountReads(const Activation& record) {
  relations_.ForEachRequired(record.task, [&](int use, const Label& label) {
    const int64_t bytes = record.inputs[static_cast<size_t>(use)].bytes();
    const Entry* entry = shard_.Find(label);
    if (entry != nullptr && entry->made_here) {
      ++stats_.reads_local;
      stats_.bytes_read_local += bytes;
    } else {
      ++stats_.reads_remote;
      stats_.bytes_read_remote += bytes;
    }
  });
}

bool JobRun::HasInputs(const Activation& record) {
  if (inputs_ == nullptr) return true;
  const TaskClass& task_class =
      program().classes[static_cast<size_t>(record.task.task_class)];
  const Kernel& kernel = *(*kernels_)[static_cast<size_t>(task_class.kernel)];
  return !kernel.ReadsInputs() || inputs_->Pin(record.task, kernel);
}

void JobRun::StartSupplied() {
  if (inputs_ == nullptr) return;
  for (const Task& task : inputs_->TakeReady()) {
    auto record = unsupplied_.Remove(task);
    if (record != nullptr) Execute(std::move(record));
  }
  stats_.input_bytes_received = inputs_->counts().received_bytes;
  stats_.input_bytes_supplied = inputs_->counts().supplied_bytes;
  stats_.input_bytes_read = inputs_->counts().read_bytes;
}

void JobRun::Execute(std::unique_ptr<Activation> record) {
  if (!HasInputs(*record)) return unsupplied_.Put(std::move(record));
  CountReads(*record);
  const Task& task = record->task;
  const TaskClass& task_class =
      job_->program.classes[static_cast<size_t>(task.task_class)];
  const auto makes_results = [&] {
    bool out = false;
    relations_.ForEachCreated(task, [&](int, const Label& label) {
      out |= root_.rounds.IsResult(label);
    });
    return out;
  };
  GiveUpInputs(*record, *(*kernels_)[static_cast<size_t>(task_class.kernel)]);
  times_.NoteSubmitted(task.task_class);
  executor_.Submit(
      {.job = id_,
       .task = task,
       .inputs = std::move(record->inputs),
       .priority = record->priority,
       .kernel = (*kernels_)[static_cast<size_t>(task_class.kernel)].get(),
       .create_count = static_cast<int>(task_class.creates.size()),
       .lazy_digests = times_.usual() >= kAskedFor && !HasLost() &&
                       !storage_.has_store() && places_.IsInternal(task) &&
                       !makes_results(),
       .owner = kernels_});
  activation_pool_.Put(std::move(record));
}

bool JobRun::StartLeaf(const Task& task) {
  if (in_flight_.contains(task) || root_.rounds.IsAhead(task)) return false;
  const TaskClass& task_class =
      job_->program.classes[static_cast<size_t>(task.task_class)];
  auto record =
      activation_pool_.Get(task, static_cast<int>(task_class.uses.size()));
  Submit(std::move(record));
  return true;
}

bool JobRun::StartNextLeaf() {
  for (int i = 0; i < kLeavesAtOnce && leaves_.has_value(); ++i) {
    const std::optional<Task> task = leaves_->Next();
    if (!task.has_value()) {
      leaves_.reset();
    } else if (places_.IsMine(*task) && !IsDone(*task) && StartLeaf(*task)) {
      return true;
    }
  }
  return false;
}

void JobRun::Feed(absl::Time now, Outbox& out) {
  if (!failure_.ok() || IsUnable()) return;
  StartSupplied();
  StartParked();
  const int64_t room = forward_ && MayGive(now) ? stealing_.RoomCount(now) : 0;
  const int64_t target = QueueTarget(executor_, times_) + room;
  // Completions that are on their way here leave room, tasks of other jobs take
  // none.
  const auto queued = [this] {
    return std::min(executor_.unfinished_count(), running_count()) +
           parked_.size();
  };
  const int expanded_max =
      executing_count() > 0 ? kExpandedBesideWork : kExpandedAtOnce;
  int expanded = 0;
  while (queued() < target && failure_.ok() && !AwaitsOffers(now)) {
    if (!open_.empty() && expanded < expanded_max) {
      ++expanded;
      Expand(now, open_.TakeFirst(), out);
      continue;
    }
    if (inputs_ != nullptr && !inputs_->HasRoom()) break;
    if (forward_ && now >= rebuild_after_ && !handover_.IsAwaiting() &&
        (in_flight_.empty() || !storage_.IsPressed())) {
      if (StartNextLeaf()) continue;
      if (leaves_.has_value()) out.WakeAt(now);  // there may be more
    }
    break;
  }
  if (expanded == expanded_max) out.WakeAt(now);
  if (!forward_ && !AwaitsOffers(now)) Search(now, out);
  times_.NotePass(now);
  if (forward_) {
    GiveTasks(now, out);
    AskForTasks(now, out);
  }
}

void JobRun::OnCompletion(absl::Time now, Completion completion, Outbox& out) {
  in_flight_.erase(completion.task);
  if (!failure_.ok()) return;
  // Of an earlier run of this job.
  if (absl::IsCancelled(completion.status)) {
    times_.NoteGone(completion.task.task_class);
    return;
  }
  if (inputs_ != nullptr) inputs_->Unpin(completion.task);
  if (IsLocalTrouble(completion.status)) {
    times_.NoteGone(completion.task.task_class);
    handover_.Settle(completion.task);
    pursuits_.Erase(completion.task);
    search_.picked.erase(completion.task);
    return Suffer(TroubleKind::kUnable,
                  NameTask(completion.status, program(), completion.task));
  }
  // What an earlier run of this task gave up it may have needed yet.
  if (inputs_ != nullptr && absl::IsUnavailable(completion.status)) {
    times_.NoteGone(completion.task.task_class);
    return PursueTask(now, completion.task, /*depth=*/1, /*certain=*/true, out);
  }
  if (!completion.status.ok()) {
    Fail(NameTask(completion.status, program(), completion.task));
    return;
  }
  Suffer(TroubleKind::kUnable, CheckMemory(storage_, completion));
  stillness_.NoteProgress(now);
  ++stats_.tasks_executed;
  times_.NoteEnded(completion.task.task_class, completion.elapsed);
  const TaskClass& task_class =
      program().classes[static_cast<size_t>(completion.task.task_class)];
  if (kernels_ != nullptr) {  // else it is of an earlier run, too
    stats_.flops += (*kernels_)[static_cast<size_t>(task_class.kernel)]->Flops(
        completion.task);
  }
  const bool was_done = IsDone(completion.task);
  pursuits_.Erase(completion.task);
  search_.picked.erase(completion.task);
  search_.walk_pause = absl::ZeroDuration();
  search_.next_walk = now;
  relations_.ForEachCreated(
      completion.task, [&](int create, const Label& label) {
        open_.Erase(label);  // else the task would run for it again
        BindOutput(now, label, completion.outputs[static_cast<size_t>(create)],
                   out);
      });
  if (was_done) ++stats_.tasks_duplicated;
  handover_.Settle(completion.task);
}

void JobRun::Fail(absl::Status status) {
  if (failure_.ok()) failure_ = std::move(status);
}

absl::Status JobRun::Receive(absl::Time now, AgentId from, uint8_t kind,
                             absl::string_view body, Outbox& out) {
  if (!failure_.ok()) return absl::OkStatus();
  const auto refuse = [] {
    return absl::InvalidArgumentError("message about no label of this job");
  };
  // Acts on all that a message says, or on nothing.
  const auto for_each = [&](const auto& bodies, auto act) -> absl::Status {
    if (!bodies.ok()) return bodies.status();
    for (const auto& b : *bodies) {
      const Task* task = TaskOf(b);
      if (!places_.IsKnown(b.label)) return refuse();
      if (task != nullptr && !relations_.IsTask(*task)) return refuse();
    }
    for (const auto& b : *bodies) {
      if (failure_.ok()) act(b);
    }
    return absl::OkStatus();
  };
  switch (static_cast<JobMessage>(kind)) {
    case JobMessage::kPublish: {
      const auto decoded = DecodePublish(body);
      if (decoded.status().code() == absl::StatusCode::kResourceExhausted) {
        Suffer(TroubleKind::kUnable, decoded.status());
      }
      return for_each(decoded, [&](const PublishBody& b) {
        HandlePublish(now, from, b, out);
      });
    }
    case JobMessage::kAnnounce:
      return for_each(DecodeAnnounce(body), [&](const AnnounceBody& b) {
        HandleAnnounce(now, from, b, out);
      });
    case JobMessage::kStored:
      return for_each(DecodeAnnounce(body), [&](const AnnounceBody& b) {
        HandleStored(now, from, b, out);
      });
    case JobMessage::kDemand:
      return for_each(DecodeDemand(body),
                      [&](const DemandBody& b) { HandleDemand(from, b, out); });
    case JobMessage::kDone:
      return for_each(DecodeDone(body),
                      [&](const DoneBody& b) { HandleDone(from, b, out); });
    case JobMessage::kRetired:
      return for_each(DecodeRetired(body), [&](const RetiredBody& b) {
        HandleRetired(from, b, out);
      });
    case JobMessage::kLookup:
    case JobMessage::kAnswer:
    case JobMessage::kClaim:
    case JobMessage::kClaimed:
    case JobMessage::kSteal:
    case JobMessage::kGiven:
      return ReceiveSearch(now, from, static_cast<JobMessage>(kind), body, out);
    case JobMessage::kStarted:
      PeerStarted(now, from, out);
      return absl::OkStatus();
    case JobMessage::kMarks: {
      DOGGED_ASSIGN_OR_RETURN(const MarksBody b, DecodeMarks(body));
      return HandleMarks(now, from, b) ? absl::OkStatus() : refuse();
    }
    case JobMessage::kLend:
      break;  // the agent's: ReceiveLent() follows
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no message of kind ", static_cast<int>(kind)));
}

}  // namespace dogged

#include "runtime/job/job_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Demands that are followed before others have their turn: some milliseconds.
constexpr int kExpandedAtOnce = 256;
// Where tasks run or wait for the executor, the search may take its time; tasks
// that they make ready may not wait for it.
constexpr int kExpandedBesideWork = 4;

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

// The reader that a message about a label names, if it does.
template <typename Body>
const Reader* ReaderOf(const Body& body) {
  if constexpr (requires { body.reader; }) {
    return body.reader.has_value() ? &*body.reader : nullptr;
  } else {
    return nullptr;
  }
}

}  // namespace

JobRun::JobRun(JobDependencies parts)
    : job_(parts),
      readers_(job_, dictionary_.labels, tasks_),
      producers_(job_, dictionary_.labels, tasks_, results_),
      dictionary_(
          job_.dictionary,
          {.storage = storage_, .readers = readers_, .producers = producers_},
          Credit(job_.limits.credit_bytes, std::move(parts.queued_bytes),
                 *parts.multicast)),
      storage_(std::move(parts.storage), parts.values, job_.relations,
               job_.labels_of_program, dictionary_.labels.shard),
      tasks_(job_, dictionary_.labels, storage_, std::move(parts.kernels)),
      demands_(job_, dictionary_.labels, dictionary_.sender, tasks_),
      results_(job_, dictionary_.labels, storage_, tasks_, demands_,
               dictionary_.retention),
      recovery_(job_, dictionary_,
                {.storage = storage_,
                 .tasks = tasks_,
                 .demands = demands_,
                 .results = results_}),
      grants_(job_, dictionary_.labels, storage_, dictionary_.sender, tasks_,
              demands_),
      walks_(job_, dictionary_.labels, tasks_, demands_),
      views_(job_, dictionary_.labels,
             {.homes = dictionary_.homes,
              .tasks = tasks_,
              .results = results_,
              .grants = grants_}) {}

void JobRun::Feed(const Pass& pass) {
  if (!job_.failure.ok() || job_.IsUnable()) return;
  tasks_.StartSupplied();
  tasks_.StartReady();
  const int64_t room = grants_.RoomCount(pass.now);
  const int64_t target = tasks_.QueueTarget() + room;
  // Completions that are on their way here leave room, tasks of other jobs take
  // none.
  const auto queued = [this] {
    return std::min(job_.executor.unfinished_count(), tasks_.running_count()) +
           tasks_.ready().size();
  };
  const int expanded_max =
      tasks_.executing_count() > 0 ? kExpandedBesideWork : kExpandedAtOnce;
  int expanded = 0;
  while (queued() < target && job_.failure.ok() &&
         !dictionary_.offers.IsRecovering(pass.now)) {
    if (demands_.HasOpen() && expanded < expanded_max) {
      ++expanded;
      demands_.ResolveNext(pass);
      continue;
    }
    if (!demands_.HasOpen() && !tasks_.HasInFlight() &&
        expanded < expanded_max && results_.GoOnSearching(pass.now)) {
      ++expanded;
      continue;
    }
    if (job_.inputs != nullptr && !job_.inputs->HasRoom()) break;
    // After the end only what is asked for, and gone, is made again.
    if (job_.forward && job_.goal.is_demanded &&
        pass.now >= job_.rebuild_after &&
        !dictionary_.labels.handover.IsAwaiting() &&
        (!tasks_.HasInFlight() || !storage_.IsPressed())) {
      if (tasks_.StartNextLeaf()) continue;
      if (tasks_.HasLeaves()) pass.out.WakeAt(pass.now);  // there may be more
    }
    break;
  }
  if (expanded == expanded_max) pass.out.WakeAt(pass.now);
  if (!job_.forward && !dictionary_.offers.IsRecovering(pass.now))
    walks_.Search(pass);
  job_.times.NotePass(pass.now);
  if (job_.forward) {
    grants_.GrantTasks(pass);
    grants_.AskForTasks(pass);
  }
}

void JobRun::OnCompletion(const Pass& pass, Completion completion) {
  tasks_.NoteEnded(completion.task);
  if (!job_.failure.ok()) return;
  // The task is of an earlier run of this job.
  if (absl::IsCancelled(completion.status)) {
    job_.times.NoteGone(completion.task.task_class);
    return;
  }
  if (job_.inputs != nullptr) job_.inputs->Unpin(completion.task);
  if (IsLocalTrouble(completion.status)) {
    job_.times.NoteGone(completion.task.task_class);
    dictionary_.labels.handover.Settle(completion.task);
    tasks_.EndDemand(completion.task);
    return tasks_.Suffer(
        TroubleKind::kUnable,
        NameTask(completion.status, job_.program(), completion.task));
  }
  // Chunks that the task reads may have been dropped as an earlier run of it
  // unpinned them.
  if (job_.inputs != nullptr && absl::IsUnavailable(completion.status)) {
    job_.times.NoteGone(completion.task.task_class);
    return demands_.DemandInputs(pass, completion.task, /*depth=*/1,
                                 /*certain=*/true);
  }
  if (!completion.status.ok()) {
    job_.Fail(NameTask(completion.status, job_.program(), completion.task));
    return;
  }
  tasks_.Suffer(TroubleKind::kUnable, CheckMemory(storage_, completion));
  job_.stall.NoteProgress(pass.now);
  ++job_.stats.tasks_executed;
  job_.times.NoteEnded(completion.task.task_class, completion.elapsed);
  const TaskClass& task_class = job_.relations.ClassOf(completion.task);
  if (tasks_.kernels() != nullptr) {  // else it is of an earlier run, too
    job_.stats.flops +=
        (*tasks_.kernels())[task_class.kernel]->Flops(completion.task);
  }
  const bool was_done = tasks_.IsDone(completion.task);
  tasks_.EndDemand(completion.task);
  walks_.NoteProgress(pass.now);
  job_.relations.ForEachCreated(completion.task, [&](int create,
                                                     const Label& label) {
    demands_.Close(label);  // else the task would run for it again
    dictionary_.replication.BindOutput(pass, label, completion.outputs[create]);
  });
  if (dictionary_.replication.MakesCuts()) {
    dictionary_.retention.ReleaseInputs(completion.task,
                                        dictionary_.replication.CutBytesMin());
  }
  if (was_done) ++job_.stats.tasks_duplicated;
  dictionary_.labels.handover.Settle(completion.task);
}

absl::Status JobRun::Receive(const Pass& pass, AgentId from, uint8_t kind,
                             const Bytes& body) {
  if (!job_.failure.ok()) return absl::OkStatus();
  const auto refuse = [] {
    return absl::InvalidArgumentError("message about no label of this job");
  };
  // Acts on all that a message says, or on nothing.
  const auto for_each = [&](const auto& bodies, auto act) -> absl::Status {
    if (!bodies.ok()) return bodies.status();
    for (const auto& b : *bodies) {
      const Reader* reader = ReaderOf(b);
      if (!dictionary_.labels.places.IsKnown(b.label)) return refuse();
      if (reader != nullptr && !job_.relations.IsTask(Task::Of(*reader))) {
        return refuse();
      }
    }
    for (const auto& b : *bodies) {
      if (job_.failure.ok()) act(b);
    }
    return absl::OkStatus();
  };
  switch (static_cast<LabelMessage>(kind)) {
    case LabelMessage::kPublish: {
      const auto decoded = DecodePublish(body);
      if (decoded.status().code() == absl::StatusCode::kResourceExhausted) {
        tasks_.Suffer(TroubleKind::kUnable, decoded.status());
      }
      return for_each(decoded, [&](const PublishBody& b) {
        dictionary_.replication.HandlePublish(pass, from, b);
      });
    }
    case LabelMessage::kAnnounce:
      return for_each(DecodeAnnounce(body.view()), [&](const AnnounceBody& b) {
        dictionary_.replication.HandleAnnounce(pass, from, b);
      });
    case LabelMessage::kStored:
      return for_each(DecodeAnnounce(body.view()), [&](const AnnounceBody& b) {
        dictionary_.replication.HandleStored(pass, from, b);
      });
    case LabelMessage::kDemand:
      return for_each(DecodeDemand(body.view()), [&](const DemandBody& b) {
        demands_.HandleDemand(from, b, pass.out);
      });
    case LabelMessage::kDone:
      return for_each(DecodeDone(body.view()), [&](const DoneBody& b) {
        dictionary_.retention.HandleDone(from, b, pass.out);
      });
    case LabelMessage::kRetired:
      return for_each(DecodeRetired(body.view()), [&](const RetiredBody& b) {
        demands_.HandleRetired(from, b, pass.out);
      });
    case LabelMessage::kStarted:
      views_.PeerStarted(pass, from);
      return absl::OkStatus();
    case LabelMessage::kWatermarks: {
      DOGGED_ASSIGN_OR_RETURN(const WatermarksBody b,
                              DecodeWatermarks(body.view()));
      return dictionary_.homes.HandleWatermarks(pass.now, from, b)
                 ? absl::OkStatus()
                 : refuse();
    }
    case LabelMessage::kLend:
      break;  // the agent's: ReceiveLent() follows
  }
  switch (static_cast<JobMessage>(kind)) {
    case JobMessage::kLookup:
    case JobMessage::kAnswer:
    case JobMessage::kClaim:
    case JobMessage::kClaimed:
    case JobMessage::kSteal:
    case JobMessage::kGranted:
      return ReceiveSearch(pass, from, static_cast<JobMessage>(kind),
                           body.view());
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no message of kind ", static_cast<int>(kind)));
}

absl::Status JobRun::ReceiveLent(const Pass& pass, AgentId from,
                                 const Label& label, const Value& value) {
  if (!job_.failure.ok()) return absl::OkStatus();
  if (!dictionary_.labels.places.IsKnown(label)) {
    return absl::InvalidArgumentError("a loan of no label of this job");
  }
  dictionary_.replication.HandlePublish(pass, from, {label, value});
  return absl::OkStatus();
}

absl::Status JobRun::ReceiveSearch(const Pass& pass, AgentId from,
                                   JobMessage kind, absl::string_view body) {
  const absl::Status refused =
      absl::InvalidArgumentError("message about no label of this job");
  if (kind == JobMessage::kLookup) {
    DOGGED_ASSIGN_OR_RETURN(const LookupBody b, DecodeLookup(body));
    if (!dictionary_.labels.places.IsKnown(b.label)) return refused;
    job_.messenger.SendTo(from, JobMessage::kAnswer,
                          EncodeAnswer(walks_.AnswerTo(pass.now, b)), pass.out);
    return absl::OkStatus();
  }
  if (kind == JobMessage::kAnswer) {
    DOGGED_ASSIGN_OR_RETURN(const AnswerBody b, DecodeAnswer(body));
    if (!dictionary_.labels.places.IsKnown(b.label)) return refused;
    walks_.HandleAnswer(pass, b);
    return absl::OkStatus();
  }
  if (kind == JobMessage::kSteal) {
    DOGGED_ASSIGN_OR_RETURN(const StealBody b, DecodeSteal(body));
    grants_.HandleSteal(pass.now, from, b);
    return absl::OkStatus();
  }
  DOGGED_ASSIGN_OR_RETURN(const ClaimBody b, DecodeClaim(body));
  if (!job_.relations.IsTask(b.task) ||
      !dictionary_.labels.places.IsKnown(b.wanted)) {
    return refused;
  }
  if (kind == JobMessage::kGranted) {
    grants_.HandleGrant(pass, from, b);
  } else if (kind == JobMessage::kClaimed) {
    walks_.HandleClaimed(pass, b);
  } else if (job_.forward) {
    grants_.HandleClaim(pass.now, from, b);
  } else {
    walks_.HandleClaim(pass, from, b);
  }
  return absl::OkStatus();
}

void JobRun::RaiseRound(int64_t round, bool is_last) {
  job_.goal.has_news |= job_.goal.rounds.Raise(round, is_last);
}

// Another round of a loop exists, or the last one is known: its tasks may run,
// and results of an end before that are none.
void JobRun::ActOnRounds(const Pass& pass) {
  job_.stall.NoteProgress(pass.now);
  job_.next_sweep = pass.now;
  tasks_.DrawLeaves(/*anew=*/false);
  results_.ListResults();
  tasks_.StartRound();
  for (const Label& label : dictionary_.labels.shard.Select(
           [](const Label&, const LabelEntry& entry) {
             return entry.is_home && entry.consumers.left() == 0;
           })) {
    dictionary_.retention.RetireIfUnneeded(label, pass.out);
  }
}

void JobRun::Tick(const Pass& pass) {
  if (!job_.failure.ok()) return;
  if (std::exchange(job_.goal.has_news, false)) ActOnRounds(pass);
  dictionary_.sender.BeginPass(pass.now);
  dictionary_.sender.SendDeferred(pass);
  recovery_.AdvanceStorage(pass);
  dictionary_.labels.handover.Expire(pass.now);
  if (pass.now >= job_.next_sweep) Sweep(pass);
  dictionary_.replication.SendCopies(pass);
  job_.messenger.CountPublications();
  if (!dictionary_.offers.IsScanning())
    dictionary_.homes.SendHandoverComplete(pass.out);
  pass.out.WakeAt(job_.next_sweep);
  pass.out.WakeAt(dictionary_.labels.handover.NextLimit());
}

void JobRun::Sweep(const Pass& pass) {
  job_.next_sweep = pass.now + job_.limits.sweep_interval;
  if (!job_.stall.has_begun()) job_.stall.BeginAnew(pass.now);
  job_.stall.Fade();

  if (job_.forward && !dictionary_.offers.IsRecovering(pass.now))
    demands_.DemandOverdueInputs(pass);
  demands_.DemandAgain(pass);
  dictionary_.conflicts.TellDigests(pass);
  for (const Label& label : dictionary_.labels.shard.TakeDue(pass.now))
    dictionary_.replication.Announce(pass, label);
  dictionary_.retention.CrossOffReported(pass.out);
  dictionary_.labels.high_fanout.Sweep();
  results_.SweepRequests(pass);
  if (job_.forward) {
    grants_.SweepStealing(pass);
  } else {
    walks_.SweepSearch(pass);
  }
  if (pass.now >= job_.rebuild_after) demands_.OpenDelayed();
  if (!job_.goal.is_demanded) dictionary_.retention.DropAllRetained(pass.out);
  results_.CountDurableResults();

  results_.SearchIfStalled(pass.now);
}

}  // namespace dogged

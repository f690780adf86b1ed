// Dropping labels that nothing needs any more. A label is kept until the
// outputs of all its consumers are durable; being wrong costs recomputation,
// never a wrong answer.
#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "runtime/agent/job_run.h"

namespace dogged {
bool JobRun::IsDurable(const Label& label, const Entry& entry) const {
  if (entry.consumers.left() == 0 && !root_.rounds.IsResult(label)) return true;
  if (storage_.keeps_values() && entry.on_disk != OnDisk::kYes) return false;
  // A copy counts while its holder has a rank; others may drop theirs.
  const absl::Span<const AgentId> holders = places_.HoldersOf(label);
  return std::all_of(holders.begin(), holders.end(), [&](AgentId agent) {
    return agent == self_ || std::find(entry.copies.begin(), entry.copies.end(),
                                       agent) != entry.copies.end();
  });
}

void JobRun::ReportIfDurable(const Label& label, Outbox& out) {
  const Entry* entry = shard_.Find(label);
  if (entry == nullptr || !entry->is_home || entry->producer_reported ||
      !IsDurable(label, *entry)) {
    return;
  }
  const std::optional<Task> producer = relations_.ProducerOf(label);
  if (!producer.has_value()) return;
  // One report for all outputs whose home is here.
  bool all_durable = true;
  absl::InlinedVector<Label, 2> outputs;
  relations_.ForEachCreated(*producer, [&](int, const Label& created) {
    if (!places_.IsHome(created)) return;
    const Entry* other = shard_.Find(created);
    if (other == nullptr || other->value.IsNone()) {
      all_durable &= marks_.WasBound(created) && !marks_.IsDoubted(created);
      return;
    }
    all_durable &= other->is_home && IsDurable(created, *other);
    outputs.push_back(created);
  });
  if (!all_durable) return;
  for (const Label& created : outputs) {
    shard_.Find(created)->producer_reported = true;
  }
  ReportDone(*producer, out);
}

// Design section 5, "In place". Who demands it later hears that it was retired,
// and if that is for certain, it is made again from the pin below it.
void JobRun::GiveUpInputs(const Activation& record, const Kernel& kernel) {
  if (!forward_ || storage_.has_store()) return;
  relations_.ForEachRequired(record.task, [&](int use, const Label& label) {
    if (!kernel.Updates(use)) return;
    const Entry* entry = shard_.Find(label);
    const bool is_ours =
        entry != nullptr && entry->is_home && !entry->is_exposed &&
        entry->copies.empty() && entry->waiters.empty() &&
        entry->value.IsSameBlock(record.inputs[static_cast<size_t>(use)]);
    if (!is_ours || wide_.IsWide(label) ||
        relations_.ConsumerCount(label) != 1 || root_.rounds.IsResult(label) ||
        marks_.IsPinned(label) || marks_.IsReopened(label)) {
      return;
    }
    const std::optional<Task> producer = relations_.ProducerOf(label);
    if (!entry->producer_reported && producer.has_value()) {
      // One report stands for all outputs.
      int outputs = 0;
      relations_.ForEachCreated(*producer,
                                [&](int, const Label&) { ++outputs; });
      if (outputs != 1) return;
      marks_.NoteGivenUp(label);
    }
    marks_.NoteRetired(label);
    shard_.Erase(label);
  });
}

void JobRun::RetireIfUnneeded(const Label& label, Outbox& out) {
  const Entry* entry = shard_.Find(label);
  if (entry == nullptr || !entry->is_home || entry->value.IsNone() ||
      entry->consumers.left() > 0 || !entry->waiters.empty() ||
      root_.rounds.IsResult(label)) {
    return;
  }
  ReportIfDurable(label, out);
  if (root_.is_demanded && marks_.MustKeep(label)) {
    marks_.Keep(label);
  } else {
    Drop(label, out);
  }
  for (const Label& kept : marks_.TakeExpired(label)) Drop(kept, out);
}

void JobRun::Drop(const Label& label, Outbox& out) {
  const Entry* entry = shard_.Find(label);
  if (entry == nullptr || entry->value.IsNone() || !entry->waiters.empty()) {
    return;
  }
  if (!entry->copies.empty()) {
    mail_.SendToAll({entry->copies.begin(), entry->copies.end()},
                    JobMessage::kRetired, EncodeRetired({.label = label}), out);
  }
  marks_.NoteRetired(label);
  shard_.Erase(label);
}

void JobRun::HandleRetired(AgentId from, const RetiredBody& body, Outbox& out) {
  if (!body.task.has_value()) {
    handover_.Settle(from, body.label);
    const Entry* entry = shard_.Find(body.label);
    if (entry == nullptr || entry->is_home ||
        from != places_.HomeOf(body.label)) {
      return;
    }
    marks_.NoteRetired(body.label);
    wide_.Forget(body.label);
    shard_.Erase(body.label);
    return;
  }
  if (BelieveRetired(from, body.label, *body.task, out)) return;
  const WideLabels::Known* known = wide_.Find(body.label);
  if (known == nullptr) return;
  // One demand was for all tasks that miss it, and so is one that insists.
  const absl::btree_set<Task> askers = known->askers;
  for (const Task& task : askers) {
    if (!IsMissing(task, body.label)) continue;
    if (BelieveRetired(from, body.label, task, out)) return;
  }
}

// The label's home has heard that this task was done. Unless a result depends
// on it for certain, that settles it.
bool JobRun::BelieveRetired(AgentId from, const Label& label, const Task& task,
                            Outbox& out) {
  if (search_.picked.contains(task) && !in_flight_.contains(task)) {
    DropTask(task);  // another walk looks again
    return false;
  }
  if (!places_.IsMine(task) || in_flight_.contains(task)) return false;
  const Pursuit* known = pursuits_.Find(task);
  if (known == nullptr) return false;
  if (!known->certain) {
    BelieveDone(task);
    return false;
  }
  if (!IsMissing(task, label)) return false;
  mail_.SendTo(from, JobMessage::kDemand,
               EncodeDemand({.label = label,
                             .task = task,
                             .depth = known->depth + 1,
                             .certain = true,
                             .insist = true}),
               out);
  return true;
}

}  // namespace dogged

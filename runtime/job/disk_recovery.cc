#include "runtime/job/disk_recovery.h"

#include <algorithm>
#include <utility>

#include "runtime/base/status.h"

namespace dogged {

DiskRecovery::DiskRecovery(JobContext& job, Dictionary& dictionary,
                           const Parts& parts)
    : job_(job),
      labels_(dictionary.labels),
      conflicts_(dictionary.conflicts),
      storage_(parts.storage),
      sender_(dictionary.sender),
      tasks_(parts.tasks),
      demands_(parts.demands),
      retention_(dictionary.retention),
      results_(parts.results),
      offers_(dictionary.offers),
      replication_(dictionary.replication) {}

CarriedOver DiskRecovery::TakeCarriedOver() const {
  const auto all = [](const Label&) { return true; };
  CarriedOver out{.digests = conflicts_.AllDigests()};
  // Where memory is short, values that may not be needed any more are a burden:
  // their consumers would have to be asked anew.
  if (storage_.bytes_max() > 0) return out;
  out.bound_rows = labels_.watermarks.BoundRows(all);
  out.retired_rows = labels_.watermarks.RetiredRows(all);
  for (const Label& label :
       labels_.shard.Select([](const Label&, const LabelEntry& entry) {
         return entry.IsBound() && !entry.value.IsSpilled();
       })) {
    const Value& value = labels_.shard.Find(label)->value;
    out.values.emplace_back(label, value.IsView() ? value.Copy() : value);
  }
  return out;
}

// As out of a directory: labels behind the ends of rows here need not be
// durable.
void DiskRecovery::AdoptCarriedOver(const Pass& pass,
                                    const CarriedOver& carried) {
  job_.rebuild_after = std::max(job_.rebuild_after, pass.now);
  if (!conflicts_.LogDigests(carried.digests, job_.self)) return;
  conflicts_.MarkDigestsUntold(pass.now, [](const Label&) { return true; });
  for (const auto& [row, version] : carried.bound_rows) {
    labels_.watermarks.NoteBoundRow(row, version);
    labels_.watermarks.MarkUnverified(row, version);
  }
  for (const auto& [row, version] : carried.retired_rows) {
    labels_.watermarks.NoteRetiredRow(row, version);
  }
  for (const auto& [label, value] : carried.values) {
    Adopt(pass, label, value, /*is_on_disk=*/false);
  }
}

void DiskRecovery::OnDisk(const Pass& pass, const ValueStore::Event& event) {
  if (!job_.failure.ok()) return;
  const bool is_lost = storage_.Note(event);
  switch (event.kind) {
    case ValueStore::Event::Kind::kWritten: {
      const LabelEntry* entry = labels_.shard.Find(event.label);
      if (entry == nullptr || !entry->is_home) return;
      retention_.ReportIfDurable(event.label, pass.out);
      retention_.RetireIfUnneeded(event.label, pass.out);
      return;
    }
    case ValueStore::Event::Kind::kLoaded:
    case ValueStore::Event::Kind::kLost:
      if (is_lost) LoseValue(event.label, pass.out);
      return;
    case ValueStore::Event::Kind::kFound:
      Adopt(pass, event.label, event.value, /*is_on_disk=*/true);
      return;
    case ValueStore::Event::Kind::kScanned:
      offers_.NoteScanned(pass.now);
      return;
    case ValueStore::Event::Kind::kFailed:
      return LoseDisk(event.status, pass.out);
  }
}

void DiskRecovery::Adopt(const Pass& pass, const Label& label,
                         const Value& value, bool is_on_disk) {
  if (!labels_.places.IsKnown(label)) return;
  if (!conflicts_.CompareDigest(label, value.digest(), job_.self)) return;
  LabelEntry* entry = &labels_.shard.Get(label);
  if (entry->IsBound()) return;
  job_.stall.NoteProgress(pass.now);
  if (is_on_disk) {
    storage_.Adopt(label, *entry, value);
  } else {
    (void)labels_.shard.Bind(label, value);
  }
  entry->announce_interval_ms = 0;
  results_.HandOutIfRequested(label, value);
  const Value held = entry->value;
  if (labels_.places.IsHome(label)) {
    const bool is_new = !labels_.watermarks.WasBound(label);
    const int64_t versions =
        is_new ? labels_.watermarks.VersionsFoundBy(label) : 0;
    replication_.BecomeHome(label, *entry, /*is_found=*/true, pass.out);
    if (is_new) {
      const std::optional<Task> producer = job_.relations.ProducerOf(label);
      if (producer.has_value() &&
          job_.relations.FirstCreated(*producer) == label) {
        job_.stats.tasks_done += versions;
      }
      if (job_.goal.rounds.IsResult(label)) ++job_.stats.results_bound;
    }
    job_.goal.has_news |= job_.goal.rounds.Note(label, held);
    std::set<AgentId> waiters(entry->waiters.begin(), entry->waiters.end());
    entry->waiters.clear();
    if (!waiters.empty()) {
      sender_.SendValue(std::move(waiters), label, pass.out,
                        Sending::kDemanded);
    }
  }
  replication_.Announce(pass, label);
  retention_.NoteBound(label, held, pass.out);
}

void DiskRecovery::LoseValue(const Label& label, Outbox& out) {
  const absl::InlinedVector<AgentId, 2> copies =
      labels_.shard.Find(label)->copies;
  labels_.shard.Erase(label);
  if (!labels_.places.IsHome(label)) {
    job_.messenger.SendTo(
        labels_.places.HomeOf(label), LabelMessage::kDemand,
        EncodeDemand({.label = label, .kind = DemandKind::kFetch}), out);
    return;
  }
  for (const AgentId copy : copies) {
    job_.messenger.SendTo(
        copy, LabelMessage::kDemand,
        EncodeDemand({.label = label, .kind = DemandKind::kFetch}), out);
  }
  if (copies.empty()) {
    demands_.RecomputeIfGone(label);
    demands_.Open(
        {.label = label, .depth = 1, .certain = true, .passed_on = true});
  }
}

// Values count as without a directory: durable by their copies. Where memory
// needs the disk, it says so once it does.
void DiskRecovery::LoseDisk(const absl::Status& cause, Outbox& out) {
  if (!storage_.GiveUpDisk(cause)) return;
  tasks_.Suffer(TroubleKind::kNotice,
                Annotate(cause, "it goes on without its disk"));
  for (const Label& label :
       labels_.shard.Select([](const Label&, const LabelEntry& entry) {
         return entry.is_home;
       })) {
    retention_.ReportIfDurable(label, out);
    retention_.RetireIfUnneeded(label, out);
  }
}

void DiskRecovery::AdvanceStorage(const Pass& pass) {
  // Before room is made: where memory is always short, a value that was loaded
  // would go again before it is sent, and be asked for without end.
  for (JobStorage::Loaded& loaded : storage_.TakeLoaded()) {
    const LabelEntry* entry = labels_.shard.FindBound(loaded.label);
    if (entry == nullptr) continue;
    results_.HandOutIfRequested(loaded.label, entry->value);
    if (!loaded.targets.empty()) {
      sender_.SendValue(std::move(loaded.targets), loaded.label, pass.out,
                        Sending::kDemanded);
    }
  }
  for (auto& record : storage_.Advance(
           pass.now, tasks_.running_count(), job_.executor.worker_count(),
           [this](const Label& label) {
             return job_.goal.rounds.IsResult(label);
           },
           [this](JobStorage::Visit visit) { tasks_.ReplaceInputs(visit); })) {
    tasks_.Execute(std::move(record));
  }
  for (auto& [label, task] : storage_.TakeRemote()) {
    job_.messenger.SendTo(labels_.places.HomeOf(label), LabelMessage::kDemand,
                          EncodeDemand({.label = label, .reader = task}),
                          pass.out);
  }
  for (auto& record : storage_.TakeReturned()) {
    ReturnTask(pass, std::move(record));
  }
  tasks_.Suffer(TroubleKind::kUnable, storage_.stuck());
}

void DiskRecovery::StartDiskScan() {
  offers_.BeginScan();
  storage_.Scan();
}

void DiskRecovery::ReturnTask(const Pass& pass,
                              std::unique_ptr<Activation> record) {
  const Task task = record->task;
  tasks_.Return(std::move(record));
  demands_.DemandInputs(pass, task, /*depth=*/1, /*certain=*/true);
}

}  // namespace dogged

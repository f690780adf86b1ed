#include "runtime/job/replication.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace dogged {
namespace {

// Between two labels that are announced again for the last time of many: an
// announcement and its answer take some microseconds at either end.
constexpr absl::Duration kAnnouncePause = absl::Microseconds(50);

}  // namespace

Replication::Replication(JobContext& job, JobLabels& labels, const Parts& parts)
    : job_(job),
      labels_(labels),
      conflicts_(parts.conflicts),
      storage_(parts.storage),
      sender_(parts.sender),
      tasks_(parts.tasks),
      retention_(parts.retention),
      results_(parts.results),
      offers_(parts.offers),
      copy_queue_(job.limits.copies) {}

void Replication::BindOutput(absl::Time now, const Label& label,
                             const Value& value, Outbox& out) {
  if (labels_.places.IsHome(label)) {
    BindAtHome(now, label, value, job_.self, out);
    return;
  }
  // Made away from home: kept here until the home has it.
  if (!conflicts_.BindHere(label, value, job_.self).has_value()) return;
  LabelEntry& entry = *labels_.shard.Find(label);
  entry.made_here = true;
  results_.HandOutIfRequested(label, value);
  entry.announce_interval_ms = 0;
  ScheduleAnnounce(now, entry);
  // The label's home may run the task, too, and be done with the label, before
  // it hears of this value.
  conflicts_.NoteMadeAway(now, label);
  labels_.handover.Give(labels_.places.HomeOf(label), label);
  sender_.SendValue({labels_.places.HomeOf(label)}, label, out);
  retention_.TellLocalConsumers(label, value, job_.self, out);
}

void Replication::BecomeHome(const Label& label, LabelEntry& entry) {
  entry.is_home = true;
  entry.producer_reported = false;
  entry.consumers.Reset(job_.relations.ConsumerCount(label));
  entry.announce_interval_ms = 0;
}

void Replication::BindAtHome(absl::Time now, const Label& label,
                             const Value& value, AgentId from, Outbox& out) {
  const std::optional<bool> bound = conflicts_.BindHere(label, value, from);
  if (!bound.has_value()) return;
  LabelEntry* entry = labels_.shard.Find(label);
  const std::optional<Task> producer = job_.relations.ProducerOf(label);
  if (producer.has_value()) tasks_.claims().Release(*producer);
  if (!*bound && entry->is_home) return;  // an equal second bind
  job_.stall.NoteProgress(now);
  BecomeHome(label, *entry);
  if (offers_.IsRecovering(now)) offers_.NoteFound(label, out);
  entry->made_here |= from == job_.self;
  labels_.high_fanout.CountAnew(
      label);  // it may have been dropped, and made again
  const bool is_new = !labels_.watermarks.WasBound(label) &&
                      !labels_.watermarks.IsRecomputing(label);
  (void)labels_.watermarks.TakeReleasedEarly(
      label);  // made again, and reported by itself
  labels_.watermarks.NoteBound(label);
  job_.goal.has_news |= job_.goal.rounds.Note(label, value);
  if (producer.has_value() && job_.relations.FirstCreated(*producer) == label) {
    if (is_new) ++job_.stats.tasks_done;
    tasks_.DropTask(*producer);  // it may have run elsewhere
  }
  if (is_new && job_.goal.rounds.IsResult(label)) ++job_.stats.results_bound;

  absl::btree_set<AgentId> targets(entry->waiters.begin(),
                                   entry->waiters.end());
  entry->waiters.clear();
  if (job_.forward) {
    const absl::btree_set<AgentId> homes =
        retention_.RemoteConsumerHomes(label, *entry);
    targets.insert(homes.begin(), homes.end());
  }
  targets.erase(from);  // the maker has told its own consumers
  // All agents wait to hear whether a loop goes on.
  if (job_.goal.rounds.IsCondition(label)) {
    for (const PlacementMember& m : labels_.places.placement().members()) {
      if (m.agent != job_.self) targets.insert(m.agent);
    }
  }
  QueueCopies(now, label);
  if (!targets.empty()) sender_.SendValue(std::move(targets), label, out);
  ScheduleAnnounce(now, *entry);
  results_.HandOutIfRequested(label, value);
  retention_.TellLocalConsumers(label, value, job_.self, out);
  retention_.ReportIfDurable(label, out);
  retention_.RetireIfUnneeded(label, out);
}

void Replication::AddMissingReplicas(const Label& label,
                                     const LabelEntry& entry,
                                     absl::btree_set<AgentId>& targets) const {
  for (AgentId agent : labels_.places.HoldersOf(label)) {
    if (agent == job_.self) continue;
    const bool has = std::find(entry.copies.begin(), entry.copies.end(),
                               agent) != entry.copies.end();
    if (!has) targets.insert(agent);
  }
}

void Replication::QueueCopies(absl::Time now, const Label& label) {
  if (labels_.places.HoldersOf(label).size() > 1) {
    labels_.shard.Find(label)->awaits_copies = true;
    copy_queue_.Add(now, label);
  }
}

void Replication::SendCopies(absl::Time now, Outbox& out) {
  // From here on it is spoken of, if nobody answers.
  const auto stop_waiting = [&](LabelEntry& entry) {
    entry.awaits_copies = false;
    if (!entry.value.IsNone()) ScheduleAnnounce(now, entry);
  };
  const bool is_busy =
      tasks_.HasInFlight() ||
      now < job_.stall.last_progress() + job_.limits.copies.delay;
  copy_queue_.BeginPass(now, is_busy, [&](const Label& label) {
    LabelEntry* entry = labels_.shard.Find(label);
    if (entry == nullptr) return false;
    if (entry->is_home && !entry->value.IsNone() &&
        !retention_.IsUsedUp(label, *entry)) {
      return true;
    }
    stop_waiting(*entry);
    return false;
  });
  while (const std::optional<Label> label = copy_queue_.Take()) {
    LabelEntry* entry = labels_.shard.Find(*label);
    if (entry == nullptr || !entry->is_home || entry->value.IsNone()) continue;
    stop_waiting(*entry);
    absl::btree_set<AgentId> targets;
    AddMissingReplicas(*label, *entry, targets);
    if (targets.empty()) continue;
    copy_queue_.NoteSent(entry->value.bytes() * std::ssize(targets));
    sender_.SendValue(std::move(targets), *label, out, Sending::kCopy);
  }
  out.WakeAt(copy_queue_.NextPass());
}

void Replication::ScheduleAnnounce(absl::Time now, LabelEntry& entry) {
  absl::Duration interval = job_.limits.sweep_interval;
  if (!tasks_.IsPaused()) {  // an agent that leaves has no time
    interval = std::min(
        2 * std::max(absl::Milliseconds(entry.announce_interval_ms),
                     job_.times.DemandTimeout(now)),
        std::max({job_.limits.backoff_max, job_.times.DemandTimeout(now),
                  labels_.shard.size() * kAnnouncePause}));
  }
  entry.announce_interval_ms = static_cast<int32_t>(
      std::min<int64_t>(absl::ToInt64Milliseconds(interval), 1 << 30));
  labels_.shard.AnnounceAt(entry, now + interval);
}

void Replication::Announce(absl::Time now, const Label& label, Outbox& out) {
  LabelEntry* entry = labels_.shard.Find(label);
  if (entry == nullptr || entry->value.IsNone()) return;
  const Bytes body = EncodeAnnounce({label, entry->value.digest()});
  if (!entry->is_home) {
    job_.messenger.SendTo(labels_.places.HomeOf(label), JobMessage::kAnnounce,
                          body, out);
    ScheduleAnnounce(now, *entry);
    return;
  }
  if (retention_.IsUsedUp(label, *entry)) return ScheduleAnnounce(now, *entry);
  absl::btree_set<AgentId> targets =
      retention_.RemoteConsumerHomes(label, *entry);
  if (!entry->awaits_copies) AddMissingReplicas(label, *entry, targets);
  if (targets.empty()) {
    // Only local consumers are left: no announcements until the view changes,
    // or their watermarks can be trusted again.
    if (labels_.watermarks.HasUnverified()) {
      ScheduleAnnounce(now, *entry);
    } else {
      labels_.shard.AnnounceAt(*entry, absl::InfiniteFuture());
    }
    const Value value = entry->value;
    labels_.high_fanout.CountAnew(label);
    return retention_.TellLocalConsumers(label, value, job_.self, out);
  }
  ScheduleAnnounce(now, *entry);
  job_.messenger.SendToAll(std::move(targets), JobMessage::kAnnounce, body,
                           out);
}

void Replication::HandlePublish(absl::Time now, AgentId from,
                                const PublishBody& body, Outbox& out) {
  job_.goal.has_news |= job_.goal.rounds.Note(body.label, body.value);
  const int rank = labels_.places.RankOf(body.label, job_.self);
  if (rank == 0) tasks_.CountIfLate(body.label, from);
  const Bytes stored = EncodeAnnounce({body.label, body.value.digest()});
  storage_.Offer(body.label, body.value);
  offers_.NoteArrived(now, body.label);
  results_.HandOutIfRequested(body.label, body.value);
  if (rank == 0) {
    if (from != job_.self)
      job_.messenger.SendTo(from, JobMessage::kStored, stored, out);
    BindAtHome(now, body.label, body.value, from, out);
    return;
  }
  if (rank > 0) {
    const std::optional<bool> bound =
        conflicts_.BindHere(body.label, body.value, from);
    if (!bound.has_value()) return;
    conflicts_.NoteDigestFrom(now, from, body.label);
    labels_.watermarks.NoteBound(body.label);
    LabelEntry& entry = *labels_.shard.Find(body.label);
    if (*bound) {
      job_.stall.NoteProgress(now);
      entry.announce_interval_ms = static_cast<int32_t>(
          absl::ToInt64Milliseconds(job_.limits.backoff_max / 2));
      ScheduleAnnounce(now, entry);
    }
    job_.messenger.SendTo(from, JobMessage::kStored, stored, out);
  } else {
    if (!conflicts_.LogDigestOf(body.label, body.value, from)) return;
    conflicts_.NoteDigestFrom(now, from, body.label);
    job_.stall.NoteProgress(now);
  }
  retention_.TellLocalConsumers(body.label, body.value, from, out);
}

bool Replication::Lacks(absl::string_view announce) const {
  const auto lacks = [this](const AnnounceBody& body) {
    const Label& label = body.label;
    if (!labels_.places.IsKnown(label)) return false;
    const LabelEntry* entry = labels_.shard.Find(label);
    if (entry != nullptr && !entry->value.IsNone()) return false;
    if (labels_.places.RankOf(label, job_.self) >= 0 ||
        results_.IsRequested(label)) {
      return true;
    }
    // A home of consumers may have used it up, or keep it with their inputs.
    const auto needs_nothing = [&](const Task& task, int use) {
      if (!tasks_.IsDemanded(task) &&
          (!labels_.places.IsMine(task) || tasks_.IsDone(task)))
        return true;
      if (tasks_.IsComplete(task)) return true;
      const std::vector<int> missing = tasks_.activations().MissingUses(task);
      return std::find(missing.begin(), missing.end(), use) == missing.end();
    };
    return !job_.relations.ForEachConsumer(label, needs_nothing);
  };
  const auto bodies = DecodeAnnounce(announce);
  // A malformed announcement is refused.
  return bodies.ok() && std::any_of(bodies->begin(), bodies->end(), lacks);
}

void Replication::HandleAnnounce(absl::Time now, AgentId from,
                                 const AnnounceBody& body, Outbox& out) {
  const int rank = labels_.places.RankOf(body.label, job_.self);
  if (rank == 0) tasks_.CountIfLate(body.label, from);
  LabelEntry* entry = labels_.shard.Find(body.label);
  const bool held = entry != nullptr && !entry->value.IsNone();
  if (!conflicts_.CompareDigest(body.label, body.digest, from)) return;
  conflicts_.NoteDigestFrom(now, from, body.label);
  if (held && rank >= 0) {
    job_.messenger.SendTo(from, JobMessage::kStored, EncodeAnnounce(body), out);
  } else if (rank == 0 && labels_.watermarks.IsRetired(body.label) &&
             !job_.goal.rounds.IsResult(body.label) &&
             (entry == nullptr || entry->waiters.empty())) {
    job_.messenger.SendTo(from, JobMessage::kRetired,
                          EncodeRetired({.label = body.label}), out);
    return;
  } else if (rank >= 0 || (!held && results_.IsRequested(body.label))) {
    job_.messenger.SendTo(from, JobMessage::kDemand,
                          EncodeDemand({.label = body.label, .lazy = true}),
                          out);
    if (rank == 0 && offers_.IsRecovering(now)) offers_.NoteComing(body.label);
    if (rank == 0) return;  // binding it tells the consumers
  }
  if (rank != 0 && labels_.high_fanout.CountAnewInTurn(body.label)) {
    retention_.TellLocalConsumers(body.label, held ? entry->value : Value(),
                                  from, out);
  }
}

void Replication::HandleStored(absl::Time now, AgentId from,
                               const AnnounceBody& body, Outbox& out) {
  labels_.handover.Settle(from, body.label);
  if (!conflicts_.CompareDigest(body.label, body.digest, from)) return;
  LabelEntry* entry = labels_.shard.Find(body.label);
  if (entry == nullptr || entry->value.IsNone()) {
    if (labels_.places.IsHome(body.label) &&
        labels_.watermarks.IsRetired(body.label)) {
      job_.messenger.SendTo(from, JobMessage::kRetired,
                            EncodeRetired({.label = body.label}), out);
    }
    return;
  }
  if (entry->is_home) {
    if (std::find(entry->copies.begin(), entry->copies.end(), from) ==
        entry->copies.end()) {
      entry->copies.push_back(from);
    }
    retention_.ReportIfDurable(body.label, out);
    retention_.RetireIfUnneeded(body.label, out);
    return;
  }
  if (from != labels_.places.HomeOf(body.label)) return;
  conflicts_.NoteStoredAtHome(body.label);
  if (labels_.places.RankOf(body.label, job_.self) < 0) {
    labels_.shard.Erase(body.label);
  } else {
    ScheduleAnnounce(now, *entry);
  }
}

}  // namespace dogged

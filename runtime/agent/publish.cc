// Binding labels, telling those who need them, and copies.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/agent/job_run.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Between two labels that are announced again for the last time of many: an
// announcement and its answer take some microseconds at either end.
constexpr absl::Duration kAnnouncePause = absl::Microseconds(50);

}  // namespace

void JobRun::BindOutput(absl::Time now, const Label& label, const Value& value,
                        Outbox& out) {
  if (places_.IsHome(label)) {
    BindAtHome(now, label, value, self_, out);
    return;
  }
  // Made away from home: kept here until the home has it.
  if (!BindHere(label, value, self_).has_value()) return;
  Entry& entry = *shard_.Find(label);
  entry.made_here = true;
  HandOutIfWanted(label, value);
  entry.announce_interval_ms = 0;
  ScheduleAnnounce(now, entry);
  // Its home may run the task, too, and be done with the label, before it hears
  // of this one.
  digests_.MarkUntold(marks_.RowOf(label), now + limits_.gift_silence_max);
  handover_.Give(places_.HomeOf(label), label);
  SendValue({places_.HomeOf(label)}, label, out);
  TellLocalConsumers(label, value, self_, out);
}

std::optional<bool> JobRun::BindHere(const Label& label, const Value& value,
                                     AgentId from) {
  if (!LogDigestOf(label, value, from)) return std::nullopt;
  const absl::StatusOr<bool> bound = shard_.Bind(label, value);
  if (bound.ok()) return *bound;
  FailOfConflict(label, shard_.Find(label)->value.digest(), value.digest(),
                 from);
  return std::nullopt;
}

bool JobRun::CompareDigest(const Label& label, const Digest& digest,
                           AgentId from) {
  const Entry* entry = shard_.Find(label);
  if (entry != nullptr && !entry->value.IsNone() &&
      entry->value.digest() != digest) {
    FailOfConflict(label, entry->value.digest(), digest, from);
    return false;
  }
  return LogDigest(label, digest, from);
}

bool JobRun::LogDigest(const Label& label, const Digest& digest, AgentId from) {
  const Label row = marks_.RowOf(label);
  const int64_t version = marks_.VersionOf(label);
  if (digests_.Note(row, version, digest)) return true;
  FailOfConflict(label, *digests_.Find(row, version), digest, from);
  return false;
}

bool JobRun::LogDigests(const std::vector<RowDigests>& rows, AgentId from) {
  for (const RowDigests& row : rows) {
    for (const auto& [version, digest] : row.versions) {
      const Label label = marks_.WithVersion(row.row, version);
      if (!CompareDigest(label, digest, from)) return false;
    }
  }
  return true;
}

bool JobRun::LogDigestOf(const Label& label, const Value& value, AgentId from) {
  if (!value.HasDigest() &&
      !digests_.Find(marks_.RowOf(label), marks_.VersionOf(label))) {
    return true;
  }
  return LogDigest(label, value.digest(), from);
}

std::optional<Digest> JobRun::KnownDigest(const Label& label) const {
  const Entry* entry = shard_.Find(label);
  if (entry != nullptr && !entry->value.IsNone() && entry->value.HasDigest()) {
    return entry->value.digest();
  }
  return digests_.Find(marks_.RowOf(label), marks_.VersionOf(label));
}

void JobRun::FailOfConflict(const Label& label, const Digest& mine,
                            const Digest& other, AgentId from) {
  const Entry* entry = shard_.Find(label);
  const std::optional<Task> producer = relations_.ProducerOf(label);
  const auto who = [this](AgentId agent, bool made) {
    return absl::StrCat("agent ", agent.ToString(),
                        made ? ", which ran the task" : "");
  };
  Fail(absl::DataLossError(absl::StrCat(
      "label ", program().LabelText(label), " of task ",
      producer.has_value() ? program().TaskText(*producer) : "none",
      " has two values: ", mine.ToString(), " at ",
      who(self_, entry != nullptr && entry->made_here && from != self_),
      ", and ", other.ToString(), " from ", who(from, from == self_),
      "; a kernel that is not deterministic, or memory that is broken")));
}

void JobRun::BecomeHome(const Label& label, Entry& entry) {
  entry.is_home = true;
  entry.producer_reported = false;
  entry.consumers.Reset(relations_.ConsumerCount(label));
  entry.announce_interval_ms = 0;
}

void JobRun::BindAtHome(absl::Time now, const Label& label, const Value& value,
                        AgentId from, Outbox& out) {
  const std::optional<bool> bound = BindHere(label, value, from);
  if (!bound.has_value()) return;
  Entry* entry = shard_.Find(label);
  const std::optional<Task> producer = relations_.ProducerOf(label);
  if (producer.has_value()) search_.claims.Release(*producer);
  if (!*bound && entry->is_home) return;  // an equal second bind
  stillness_.NoteProgress(now);
  BecomeHome(label, *entry);
  if (AwaitsOffers(now)) NoteFound(label, out);
  entry->made_here |= from == self_;
  wide_.Doubt(label);  // it may have been dropped, and made again
  const bool is_new = !marks_.WasBound(label) && !marks_.IsReopened(label);
  (void)marks_.TakeGivenUp(label);  // made again, and reported by itself
  marks_.NoteBound(label);
  root_.has_news |= root_.rounds.Note(label, value);
  if (producer.has_value() && relations_.FirstCreated(*producer) == label) {
    if (is_new) ++stats_.tasks_done;
    DropTask(*producer);  // it may have run elsewhere
  }
  if (is_new && root_.rounds.IsResult(label)) ++stats_.results_bound;

  absl::btree_set<AgentId> targets(entry->waiters.begin(),
                                   entry->waiters.end());
  entry->waiters.clear();
  if (forward_) {
    const absl::btree_set<AgentId> homes = RemoteConsumerHomes(label, *entry);
    targets.insert(homes.begin(), homes.end());
  }
  targets.erase(from);  // who has made it has told its own consumers
  // All agents wait to hear whether a loop goes on.
  if (root_.rounds.IsCondition(label)) {
    for (const PlacementMember& m : places_.placement().members()) {
      if (m.agent != self_) targets.insert(m.agent);
    }
  }
  QueueCopies(now, label);
  if (!targets.empty()) SendValue(std::move(targets), label, out);
  ScheduleAnnounce(now, *entry);
  HandOutIfWanted(label, value);
  TellLocalConsumers(label, value, self_, out);
  ReportIfDurable(label, out);
  RetireIfUnneeded(label, out);
}

void JobRun::AddMissingReplicas(const Label& label, const Entry& entry,
                                absl::btree_set<AgentId>& targets) const {
  for (AgentId agent : places_.HoldersOf(label)) {
    if (agent == self_) continue;
    const bool has = std::find(entry.copies.begin(), entry.copies.end(),
                               agent) != entry.copies.end();
    if (!has) targets.insert(agent);
  }
}

void JobRun::QueueCopies(absl::Time now, const Label& label) {
  if (places_.HoldersOf(label).size() > 1) {
    shard_.Find(label)->awaits_copies = true;
    copy_queue_.Add(now, label);
  }
}

void JobRun::SendCopies(absl::Time now, Outbox& out) {
  // From here on it is spoken of, if nobody answers.
  const auto stop_waiting = [&](Entry& entry) {
    entry.awaits_copies = false;
    if (!entry.value.IsNone()) ScheduleAnnounce(now, entry);
  };
  const bool is_busy = !in_flight_.empty() ||
                       now < stillness_.last_progress() + limits_.copy_delay;
  copy_queue_.BeginPass(now, is_busy, [&](const Label& label) {
    Entry* entry = shard_.Find(label);
    if (entry == nullptr) return false;
    if (entry->is_home && !entry->value.IsNone() && !IsUsedUp(label, *entry)) {
      return true;
    }
    stop_waiting(*entry);
    return false;
  });
  while (const std::optional<Label> label = copy_queue_.Take()) {
    Entry* entry = shard_.Find(*label);
    if (entry == nullptr || !entry->is_home || entry->value.IsNone()) continue;
    stop_waiting(*entry);
    absl::btree_set<AgentId> targets;
    AddMissingReplicas(*label, *entry, targets);
    if (targets.empty()) continue;
    copy_queue_.NoteSent(entry->value.bytes() * std::ssize(targets));
    SendValue(std::move(targets), *label, out, Sending::kCopy);
  }
  out.WakeAt(copy_queue_.NextPass());
}

void JobRun::ScheduleAnnounce(absl::Time now, Entry& entry) {
  absl::Duration interval = limits_.sweep_interval;
  if (!paused_) {  // one who leaves has no time to back off
    interval =
        std::min(2 * std::max(absl::Milliseconds(entry.announce_interval_ms),
                              times_.Patience(now)),
                 std::max({limits_.backoff_max, times_.Patience(now),
                           held_count() * kAnnouncePause}));
  }
  entry.announce_interval_ms = static_cast<int32_t>(
      std::min<int64_t>(absl::ToInt64Milliseconds(interval), 1 << 30));
  shard_.AnnounceAt(entry, now + interval);
}

void JobRun::Announce(absl::Time now, const Label& label, Outbox& out) {
  Entry* entry = shard_.Find(label);
  if (entry == nullptr || entry->value.IsNone()) return;
  const Bytes body = EncodeAnnounce({label, entry->value.digest()});
  if (!entry->is_home) {
    mail_.SendTo(places_.HomeOf(label), JobMessage::kAnnounce, body, out);
    ScheduleAnnounce(now, *entry);
    return;
  }
  if (IsUsedUp(label, *entry)) return ScheduleAnnounce(now, *entry);
  absl::btree_set<AgentId> targets = RemoteConsumerHomes(label, *entry);
  if (!entry->awaits_copies) AddMissingReplicas(label, *entry, targets);
  if (targets.empty()) {
    // Only local consumers are left: nothing to say until the view changes, or
    // what is said of them can be believed again.
    if (marks_.HasDoubts()) {
      ScheduleAnnounce(now, *entry);
    } else {
      shard_.AnnounceAt(*entry, absl::InfiniteFuture());
    }
    const Value value = entry->value;
    wide_.Doubt(label);
    return TellLocalConsumers(label, value, self_, out);
  }
  ScheduleAnnounce(now, *entry);
  mail_.SendToAll(std::move(targets), JobMessage::kAnnounce, body, out);
}

void JobRun::NoteDigestFrom(absl::Time now, AgentId from, const Label& label) {
  const AgentId home = places_.HomeOf(label);
  if (from == home || home == self_) return;
  digests_.MarkUntold(marks_.RowOf(label), now);
}

void JobRun::HandlePublish(absl::Time now, AgentId from,
                           const PublishBody& body, Outbox& out) {
  root_.has_news |= root_.rounds.Note(body.label, body.value);
  const int rank = places_.RankOf(body.label, self_);
  if (rank == 0) CountIfLate(body.label, from);
  const Bytes stored = EncodeAnnounce({body.label, body.value.digest()});
  storage_.Offer(body.label, body.value);
  if (offers_.coming.erase(body.label) > 0) NoteOffer(now);
  HandOutIfWanted(body.label, body.value);
  if (rank == 0) {
    if (from != self_) mail_.SendTo(from, JobMessage::kStored, stored, out);
    BindAtHome(now, body.label, body.value, from, out);
    return;
  }
  if (rank > 0) {
    const std::optional<bool> bound = BindHere(body.label, body.value, from);
    if (!bound.has_value()) return;
    NoteDigestFrom(now, from, body.label);
    marks_.NoteBound(body.label);
    Entry& entry = *shard_.Find(body.label);
    if (*bound) {
      stillness_.NoteProgress(now);
      entry.announce_interval_ms = static_cast<int32_t>(
          absl::ToInt64Milliseconds(limits_.backoff_max / 2));
      ScheduleAnnounce(now, entry);
    }
    mail_.SendTo(from, JobMessage::kStored, stored, out);
  } else {
    if (!LogDigestOf(body.label, body.value, from)) return;
    NoteDigestFrom(now, from, body.label);
    stillness_.NoteProgress(now);
  }
  TellLocalConsumers(body.label, body.value, from, out);
}

bool JobRun::Lacks(absl::string_view announce) const {
  const auto lacks = [this](const AnnounceBody& body) {
    const Label& label = body.label;
    if (!places_.IsKnown(label)) return false;
    const Entry* entry = shard_.Find(label);
    if (entry != nullptr && !entry->value.IsNone()) return false;
    if (places_.RankOf(label, self_) >= 0 || wishes_.wanted.contains(label)) {
      return true;
    }
    // A home of consumers may have used it up, or keep it with their inputs.
    const auto needs_nothing = [&](const Task& task, int use) {
      if (!IsPursued(task) && (!places_.IsMine(task) || IsDone(task)))
        return true;
      if (IsComplete(task)) return true;
      const std::vector<int> missing = activations_.MissingUses(task);
      return std::find(missing.begin(), missing.end(), use) == missing.end();
    };
    return !relations_.ForEachConsumer(label, needs_nothing);
  };
  const auto bodies = DecodeAnnounce(announce);
  // One that is malformed is refused.
  return bodies.ok() && std::any_of(bodies->begin(), bodies->end(), lacks);
}

void JobRun::HandleAnnounce(absl::Time now, AgentId from,
                            const AnnounceBody& body, Outbox& out) {
  const int rank = places_.RankOf(body.label, self_);
  if (rank == 0) CountIfLate(body.label, from);
  Entry* entry = shard_.Find(body.label);
  const bool held = entry != nullptr && !entry->value.IsNone();
  if (!CompareDigest(body.label, body.digest, from)) return;
  NoteDigestFrom(now, from, body.label);
  if (held && rank >= 0) {
    mail_.SendTo(from, JobMessage::kStored, EncodeAnnounce(body), out);
  } else if (rank == 0 && marks_.IsRetired(body.label) &&
             !root_.rounds.IsResult(body.label) &&
             (entry == nullptr || entry->waiters.empty())) {
    mail_.SendTo(from, JobMessage::kRetired,
                 EncodeRetired({.label = body.label}), out);
    return;
  } else if (rank >= 0 || (!held && wishes_.wanted.contains(body.label))) {
    mail_.SendTo(from, JobMessage::kDemand,
                 EncodeDemand({.label = body.label, .lazy = true}), out);
    if (rank == 0 && AwaitsOffers(now)) offers_.coming.insert(body.label);
    if (rank == 0) return;  // binding it tells the consumers
  }
  if (rank != 0 && wide_.DoubtInTurn(body.label)) {
    TellLocalConsumers(body.label, held ? entry->value : Value(), from, out);
  }
}

void JobRun::HandleStored(absl::Time now, AgentId from,
                          const AnnounceBody& body, Outbox& out) {
  handover_.Settle(from, body.label);
  if (!CompareDigest(body.label, body.digest, from)) return;
  Entry* entry = shard_.Find(body.label);
  if (entry == nullptr || entry->value.IsNone()) {
    if (places_.IsHome(body.label) && marks_.IsRetired(body.label)) {
      mail_.SendTo(from, JobMessage::kRetired,
                   EncodeRetired({.label = body.label}), out);
    }
    return;
  }
  if (entry->is_home) {
    if (std::find(entry->copies.begin(), entry->copies.end(), from) ==
        entry->copies.end()) {
      entry->copies.push_back(from);
    }
    ReportIfDurable(body.label, out);
    RetireIfUnneeded(body.label, out);
    return;
  }
  if (from != places_.HomeOf(body.label)) return;
  digests_.MarkTold(marks_.RowOf(body.label));
  if (places_.RankOf(body.label, self_) < 0) {
    shard_.Erase(body.label);
  } else {
    ScheduleAnnounce(now, *entry);
  }
}

}  // namespace dogged

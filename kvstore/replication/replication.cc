#include "kvstore/replication/replication.h"

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

// Which agents are of other hosts, how fast links are and how much is held
// changes slowly.
constexpr absl::Duration kLookInterval = absl::Milliseconds(100);
// Labels that are held are gone through no more often: a look at one takes some
// nanoseconds.
constexpr absl::Duration kCountPause = absl::Microseconds(10);
// An agent without progress for so long has nothing better to do than copying.
constexpr absl::Duration kIdleAfter = absl::Seconds(1);
// Some milliseconds: other work of the loop has its turn between.
constexpr int kCopiesAPass = 512;

}  // namespace

Replication::Replication(LabelContext& job, LabelTable& labels,
                         const Parts& parts)
    : job_(job),
      labels_(labels),
      conflicts_(parts.conflicts),
      storage_(parts.storage),
      sender_(parts.sender),
      retention_(parts.retention),
      offers_(parts.offers),
      readers_(parts.readers),
      producers_(parts.producers),
      copy_queue_(job.limits.copies),
      cuts_(job.limits.cuts) {}

void Replication::BindOutput(const Pass& pass, const Label& label,
                             const Value& value) {
  if (labels_.places.IsHome(label)) {
    BindAtHome(pass, label, value, job_.self);
    return;
  }
  // Made away from home: kept here until the home has it.
  if (!conflicts_.BindHere(label, value, job_.self).has_value()) return;
  LabelEntry& entry = *labels_.shard.Find(label);
  entry.made_here = true;
  producers_.HandOut(label, value);
  entry.announce_interval_ms = 0;
  ScheduleAnnounce(pass.now, entry);
  // Its home may have it made, too, and be done with the label, before it hears
  // of this one.
  conflicts_.NoteMadeAway(pass.now, label);
  labels_.handover.Give(labels_.places.HomeOf(label), label);
  sender_.SendValue({labels_.places.HomeOf(label)}, label, pass.out);
  retention_.TellLocalConsumers(label, value, job_.self, pass.out);
}

void Replication::BecomeHome(const Label& label, LabelEntry& entry,
                             bool is_found, Outbox& out) {
  entry.is_home = true;
  entry.producer_reported = false;
  entry.consumers.Reset(job_.relations.ReaderCount(label));
  entry.read_here = 0;
  entry.announce_interval_ms = 0;
  if (is_found) offers_.NoteFound(label, out);
  labels_.watermarks.NoteBound(label);
}

void Replication::BindAtHome(const Pass& pass, const Label& label,
                             const Value& value, AgentId from) {
  const std::optional<bool> bound = conflicts_.BindHere(label, value, from);
  if (!bound.has_value()) return;
  LabelEntry* entry = labels_.shard.Find(label);
  producers_.NoteMade(label);
  if (!*bound && entry->is_home) return;  // an equal second bind
  producers_.NoteProgress(pass.now);
  const bool is_new = !labels_.watermarks.WasBound(label) &&
                      !labels_.watermarks.IsRecomputing(label);
  const bool is_found = offers_.IsRecovering(pass.now);
  const int64_t new_versions = !is_new ? 0
                               : is_found
                                   ? labels_.watermarks.VersionsFoundBy(label)
                                   : 1;
  BecomeHome(label, *entry, is_found, pass.out);
  entry->made_here |= from == job_.self;
  // It may have been dropped, and made again; then it is reported by itself.
  labels_.high_fanout.CountAnew(label);
  (void)labels_.watermarks.TakeReleasedEarly(label);
  producers_.NoteBound(label, value, new_versions);

  std::set<AgentId> targets(entry->waiters.begin(), entry->waiters.end());
  entry->waiters.clear();
  if (job_.forward) {
    const std::set<AgentId> homes =
        retention_.RemoteConsumerHomes(label, *entry);
    targets.insert(homes.begin(), homes.end());
  }
  targets.erase(from);  // the maker has told its own consumers
  // All agents wait to hear whether a loop goes on.
  if (producers_.IsAwaitedByAll(label)) {
    for (const PlacementMember& m : labels_.places.placement().members()) {
      if (m.agent != job_.self) targets.insert(m.agent);
    }
  }
  QueueCopies(pass.now, label);
  if (!targets.empty()) sender_.SendValue(std::move(targets), label, pass.out);
  ScheduleAnnounce(pass.now, *entry);
  producers_.HandOut(label, value);
  retention_.NoteBound(label, value, pass.out);
}

void Replication::AddMissingReplicas(const Label& label,
                                     const LabelEntry& entry,
                                     std::set<AgentId>& targets) const {
  for (AgentId agent : labels_.places.HoldersOf(label)) {
    if (agent == job_.self) continue;
    const bool has = std::find(entry.copies.begin(), entry.copies.end(),
                               agent) != entry.copies.end();
    if (!has) targets.insert(agent);
  }
}

void Replication::NoteMembers(absl::Time now, int64_t lost) {
  cuts_.NoteMembers(now, std::ssize(labels_.places.placement().members()),
                    lost);
  next_look_ = now;
  expected_.ForgetIf(now, [this](AgentId agent) {
    return !labels_.places.placement().Contains(agent);
  });
}

void Replication::LookAtLinks(absl::Time now) {
  if (now < next_look_) return;
  next_look_ = now + kLookInterval;
  const auto& members = labels_.places.placement().members();
  bool are_loans = true;
  double rate = 0;
  for (const PlacementMember& member : members) {
    if (member.agent == job_.self) continue;
    if (job_.lending != nullptr && job_.lending->MayLend(member.agent)) {
      continue;
    }
    are_loans = false;
    rate = std::max(rate, job_.link_rate(member.agent));
  }
  if (are_loans) {
    cuts_.SetLoans();
  } else {
    cuts_.SetRate(rate);
  }
  const bool made_cuts =
      std::exchange(makes_cuts_, members.size() > 1 && !storage_.has_store());
  if (made_cuts && !makes_cuts_) {
    for (const Label& label : cut_queue_.TakeAll()) {
      copy_queue_.Add(now, label);
    }
  }
  if (makes_cuts_ && now >= next_count_) {
    next_count_ = now + labels_.shard.size() * kCountPause;
    held_bytes_ = labels_.shard.BytesInMemory();
  }
}

bool Replication::HasRoom() const {
  if (!makes_cuts_) return true;
  return cuts_.HasRoom([this] {
    const auto& members = labels_.places.placement().members();
    return std::all_of(members.begin(), members.end(), [this](const auto& m) {
      return m.agent == job_.self || sender_.IsIdle(m.agent);
    });
  });
}

void Replication::QueueCopies(absl::Time now, const Label& label) {
  if (labels_.places.HoldersOf(label).size() <= 1) return;
  LookAtLinks(now);
  LabelEntry& entry = *labels_.shard.Find(label);
  entry.awaits_copies = true;
  // With one copy of others, retained generations are all that a loss leaves.
  if (makes_cuts_ && job_.replicas > 1 &&
      entry.value.bytes() >= CutBytesMin() && !readers_.IsResult(label)) {
    cut_queue_.Add(label);
    held_bytes_ += entry.value.bytes();
  } else {
    copy_queue_.Add(now, label);
  }
}

void Replication::StopAwaiting(absl::Time now, LabelEntry& entry) {
  entry.awaits_copies = false;
  if (entry.IsBound()) ScheduleAnnounce(now, entry);
}

void Replication::SendCopyOf(const Pass& pass, const Label& label) {
  LabelEntry* entry = labels_.shard.FindBound(label);
  if (entry == nullptr || !entry->is_home) return;
  StopAwaiting(pass.now, *entry);
  std::set<AgentId> targets;
  AddMissingReplicas(label, *entry, targets);
  if (targets.empty()) return;
  const int64_t bytes = entry->value.bytes() * std::ssize(targets);
  if (!cuts_.are_loans()) copy_queue_.NoteSent(bytes);
  if (makes_cuts_) cuts_.NoteSent(bytes);
  sender_.SendValue(std::move(targets), label, pass.out, Sending::kCopy);
}

void Replication::SendCopies(const Pass& pass) {
  LookAtLinks(pass.now);
  if (makes_cuts_)
    cuts_.BeginPass(pass.now, !producers_.IsThrough() &&
                                  producers_.IsBusy(pass.now - kIdleAfter));
  copy_queue_.BeginPass(pass.now, producers_.IsBusy(pass.now),
                        [&](const Label& label) {
                          LabelEntry* entry = labels_.shard.Find(label);
                          if (entry == nullptr) return false;
                          if (entry->is_home && entry->IsBound() &&
                              !retention_.IsUsedUp(label, *entry)) {
                            return true;
                          }
                          StopAwaiting(pass.now, *entry);
                          return false;
                        });
  while (HasRoom()) {
    const std::optional<Label> label = copy_queue_.Take();
    if (!label.has_value()) break;
    SendCopyOf(pass, *label);
  }
  const absl::Time next = copy_queue_.NextPass();
  pass.out.WakeAt(makes_cuts_ ? std::max(next, cuts_.NextRoom()) : next);
  if (makes_cuts_) SendCut(pass);
}

// Labels that tasks of this agent have used up leave the queue without a copy:
// copies of what was made of them are enough.
bool Replication::JoinsCut(absl::Time now, const Label& label, int64_t& bytes) {
  LabelEntry* entry = labels_.shard.Find(label);
  if (entry == nullptr) return false;
  if (!entry->is_home || !entry->IsBound()) {
    StopAwaiting(now, *entry);
    return false;
  }
  if (retention_.IsUsedUpHere(label, *entry)) return false;
  entry->is_cut_member = true;
  bytes += entry->value.bytes();
  return true;
}

// Bytes that a cut would copy are counted when one may be due by the last
// count: all that is held grows from cut to cut, and would say that none is
// worth it.
bool Replication::IsCutDue() {
  const int64_t labels = cut_queue_.waiting_count();
  if (labels == 0 || !cuts_.IsDue(labels, in_use_bytes_, held_bytes_)) {
    return false;
  }
  in_use_bytes_ = 0;
  cut_queue_.ForEachWaiting([this](const Label& label) {
    const LabelEntry* entry = labels_.shard.Find(label);
    const bool joins = entry != nullptr && entry->is_home && entry->IsBound() &&
                       !retention_.IsUsedUpHere(label, *entry);
    if (joins) in_use_bytes_ += entry->value.bytes();
  });
  return cuts_.IsDue(labels, in_use_bytes_, held_bytes_);
}

void Replication::SendCut(const Pass& pass) {
  if (!cut_queue_.IsCutting() && IsCutDue()) {
    int64_t bytes = 0;
    cut_queue_.Begin(
        [&](const Label& label) { return JoinsCut(pass.now, label, bytes); });
    cuts_.NoteCut(cut_queue_.cut_count(), bytes);
  }
  int taken = 0;
  while (HasRoom() && taken < kCopiesAPass) {
    const std::optional<Label> label = cut_queue_.Take();
    if (!label.has_value()) break;
    SendCopyOf(pass, *label);
    ++taken;
  }
  // Without copies of all that is in use no cut says what a loss costs.
  if (job_.replicas > 1) {
    job_.stats.at_risk_ms = std::max(job_.stats.at_risk_ms,
                                     absl::ToInt64Milliseconds(cuts_.AtRisk()));
  }
  if (cut_queue_.IsCutting()) {
    pass.out.WakeAt(cuts_.NextRoom());
  } else if (cut_queue_.waiting_count() > 0) {
    cuts_.NoteWhole(true);
    pass.out.WakeAt(next_look_);
  } else {
    cuts_.NoteWhole(false);
  }
}

void Replication::ScheduleAnnounce(absl::Time now, LabelEntry& entry) {
  absl::Duration interval = job_.limits.sweep_interval;
  if (!producers_.IsLeaving()) {  // an agent that leaves has no time
    interval = std::min(
        2 * std::max(absl::Milliseconds(entry.announce_interval_ms),
                     producers_.DemandTimeout(now)),
        std::max({job_.limits.backoff_max, producers_.DemandTimeout(now),
                  labels_.shard.size() * kAnnouncePause}));
  }
  entry.announce_interval_ms = static_cast<int32_t>(
      std::min<int64_t>(absl::ToInt64Milliseconds(interval), 1 << 30));
  labels_.shard.AnnounceAt(entry, now + interval);
}

void Replication::Announce(const Pass& pass, const Label& label) {
  LabelEntry* entry = labels_.shard.FindBound(label);
  if (entry == nullptr) return;
  const Bytes body = EncodeAnnounce({label, entry->value.digest()});
  if (!entry->is_home) {
    job_.messenger.SendTo(labels_.places.HomeOf(label), LabelMessage::kAnnounce,
                          body, pass.out);
    ScheduleAnnounce(pass.now, *entry);
    return;
  }
  if (retention_.IsUsedUp(label, *entry)) {
    ScheduleAnnounce(pass.now, *entry);
    return retention_.TellLocalConsumers(label, Value(entry->value), job_.self,
                                         pass.out);
  }
  std::set<AgentId> targets = retention_.RemoteConsumerHomes(label, *entry);
  if (!entry->awaits_copies) AddMissingReplicas(label, *entry, targets);
  if (targets.empty()) {
    // Only local consumers are left: no announcements until the view changes,
    // or their watermarks can be trusted again.
    if (labels_.watermarks.HasUnverified()) {
      ScheduleAnnounce(pass.now, *entry);
    } else {
      labels_.shard.AnnounceAt(*entry, absl::InfiniteFuture());
    }
    const Value value = entry->value;
    labels_.high_fanout.CountAnew(label);
    return retention_.TellLocalConsumers(label, value, job_.self, pass.out);
  }
  ScheduleAnnounce(pass.now, *entry);
  job_.messenger.SendToAll(std::move(targets), LabelMessage::kAnnounce, body,
                           pass.out);
}

void Replication::HandlePublish(const Pass& pass, AgentId from,
                                const PublishBody& body) {
  producers_.NoteValue(body.label, body.value);
  const int rank = labels_.places.RankOf(body.label, job_.self);
  if (rank == 0) producers_.NoteHolder(body.label, from);
  const Bytes stored = EncodeAnnounce({body.label, body.value.digest()});
  storage_.Offer(body.label, body.value);
  offers_.NoteArrived(pass.now, body.label);
  producers_.HandOut(body.label, body.value);
  const std::vector<AgentId> others = expected_.Take(body.label);
  if (rank >= 0) {
    for (const AgentId other : others) {
      job_.messenger.SendTo(other, LabelMessage::kStored, stored, pass.out);
    }
  }
  if (rank == 0) {
    if (from != job_.self)
      job_.messenger.SendTo(from, LabelMessage::kStored, stored, pass.out);
    BindAtHome(pass, body.label, body.value, from);
    return;
  }
  if (rank > 0) {
    const std::optional<bool> bound =
        conflicts_.BindHere(body.label, body.value, from);
    if (!bound.has_value()) return;
    conflicts_.NoteDigestFrom(pass.now, from, body.label);
    labels_.watermarks.NoteBound(body.label);
    LabelEntry& entry = *labels_.shard.Find(body.label);
    if (*bound) {
      producers_.NoteProgress(pass.now);
      entry.announce_interval_ms = static_cast<int32_t>(
          absl::ToInt64Milliseconds(job_.limits.backoff_max / 2));
      ScheduleAnnounce(pass.now, entry);
    }
    job_.messenger.SendTo(from, LabelMessage::kStored, stored, pass.out);
  } else {
    if (!conflicts_.LogDigestOf(body.label, body.value, from)) return;
    conflicts_.NoteDigestFrom(pass.now, from, body.label);
    producers_.NoteProgress(pass.now);
  }
  retention_.TellLocalConsumers(body.label, body.value, from, pass.out);
}

bool Replication::Lacks(absl::string_view announce) const {
  const auto lacks = [this](const AnnounceBody& body) {
    const Label& label = body.label;
    if (!labels_.places.IsKnown(label)) return false;
    if (labels_.shard.IsBound(label)) return false;
    if (labels_.places.RankOf(label, job_.self) >= 0 ||
        producers_.IsRequested(label)) {
      return true;
    }
    // A home of readers may have used it up, or keep it with their inputs.
    return producers_.IsLacked(label);
  };
  const auto bodies = DecodeAnnounce(announce);
  // A malformed announcement is refused.
  return bodies.ok() && std::any_of(bodies->begin(), bodies->end(), lacks);
}

void Replication::HandleAnnounce(const Pass& pass, AgentId from,
                                 const AnnounceBody& body) {
  const int rank = labels_.places.RankOf(body.label, job_.self);
  if (rank == 0) producers_.NoteHolder(body.label, from);
  LabelEntry* entry = labels_.shard.Find(body.label);
  const bool held = entry != nullptr && entry->IsBound();
  if (!conflicts_.CompareDigest(body.label, body.digest, from)) return;
  conflicts_.NoteDigestFrom(pass.now, from, body.label);
  if (held && rank >= 0) {
    job_.messenger.SendTo(from, LabelMessage::kStored, EncodeAnnounce(body),
                          pass.out);
  } else if (rank == 0 && labels_.watermarks.IsRetired(body.label) &&
             !readers_.IsResult(body.label) &&
             (entry == nullptr || entry->waiters.empty())) {
    job_.messenger.SendTo(from, LabelMessage::kRetired,
                          EncodeRetired({.label = body.label}), pass.out);
    return;
  } else if (rank >= 0 || (!held && producers_.IsRequested(body.label))) {
    if (expected_.Demand(pass.now, body.label, from,
                         producers_.DemandTimeout(pass.now))) {
      job_.messenger.SendTo(
          from, LabelMessage::kDemand,
          EncodeDemand({.label = body.label, .kind = DemandKind::kFetch}),
          pass.out);
    }
    if (rank == 0 && offers_.IsRecovering(pass.now))
      offers_.NoteComing(body.label);
    if (rank == 0) return;  // binding it tells the consumers
  }
  if (rank != 0 && labels_.high_fanout.CountAnewInTurn(body.label)) {
    retention_.TellLocalConsumers(body.label, held ? entry->value : Value(),
                                  from, pass.out);
  }
}

void Replication::HandleStored(const Pass& pass, AgentId from,
                               const AnnounceBody& body) {
  labels_.handover.Settle(from, body.label);
  if (!conflicts_.CompareDigest(body.label, body.digest, from)) return;
  LabelEntry* entry = labels_.shard.FindBound(body.label);
  if (entry == nullptr) {
    if (labels_.places.IsHome(body.label) &&
        labels_.watermarks.IsRetired(body.label)) {
      job_.messenger.SendTo(from, LabelMessage::kRetired,
                            EncodeRetired({.label = body.label}), pass.out);
    }
    return;
  }
  if (entry->is_home) {
    if (std::find(entry->copies.begin(), entry->copies.end(), from) ==
        entry->copies.end()) {
      entry->copies.push_back(from);
    }
    retention_.ReportIfDurable(body.label, pass.out);
    retention_.RetireIfUnneeded(body.label, pass.out);
    return;
  }
  if (from != labels_.places.HomeOf(body.label)) return;
  conflicts_.NoteStoredAtHome(body.label);
  if (labels_.places.RankOf(body.label, job_.self) < 0) {
    HandedOver& handed = handed_over_[from];
    ++handed.count;
    handed.bytes += entry->value.bytes();
    labels_.shard.Erase(body.label);
  } else {
    ScheduleAnnounce(pass.now, *entry);
  }
}

}  // namespace dogged

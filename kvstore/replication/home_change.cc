#include "kvstore/replication/home_change.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace dogged {

HomeChange::HomeChange(LabelContext& job, LabelTable& labels,
                       const Parts& parts)
    : job_(job),
      labels_(labels),
      conflicts_(parts.conflicts),
      sender_(parts.sender),
      retention_(parts.retention),
      offers_(parts.offers),
      replication_(parts.replication) {}

void HomeChange::Review(const Pass& pass, const Placement& before) {
  const int64_t lost_count = std::count_if(
      before.members().begin(), before.members().end(), [this](const auto& m) {
        return !labels_.places.placement().Contains(m.agent);
      });
  const bool lost = lost_count > 0;
  replication_.NoteMembers(pass.now, lost_count);
  if (lost) {
    offers_.ForgetIf(pass.now, [this](AgentId agent) {
      return !labels_.places.placement().Contains(agent);
    });
  }
  ReviewHandovers(pass, before);
  labels_.watermarks.Forget(
      [this](const Label& row) { return !labels_.places.IsHome(row); });
  labels_.high_fanout.ForgetAll();
  if (lost) {
    for (const auto& [row, version] :
         labels_.watermarks.BoundRows([&](const Label& r) {
           return labels_.places.IsHome(r) &&
                  !labels_.places.placement().Contains(
                      before.Home(labels_.places.KeyOf(r)));
         })) {
      labels_.watermarks.MarkUnverified(row, version);
    }
  }
  for (const Label& label : labels_.shard.Select(
           [](const Label&, const LabelEntry&) { return true; })) {
    ReviewEntry(pass, label, before);
  }
  retention_.ReviewReleased(pass.out);
  HandOverWatermarks(
      [&](const Label& row) {
        return before.Home(labels_.places.KeyOf(row)) == job_.self &&
               !labels_.places.IsHome(row);
      },
      pass.out);
  // Also of rows that were others': their home may be dead.
  conflicts_.MarkDigestsUntold(pass.now, [&](const Label& row) {
    return before.Home(labels_.places.KeyOf(row)) != labels_.places.HomeOf(row);
  });
  conflicts_.TellDigests(pass);
}

void HomeChange::ReviewHandovers(const Pass& pass, const Placement& before) {
  labels_.handover.ForgetIf(
      [this](AgentId to) { return !labels_.places.placement().Contains(to); });
  const bool is_beginner =
      before.members().empty() || labels_.handover.IsHeldAltogether();
  for (const PlacementMember& member : labels_.places.placement().members()) {
    const AgentId peer = member.agent;
    if (peer == job_.self) continue;
    const bool is_new = !before.Contains(peer);
    if (is_beginner && is_new) {
      labels_.handover.Await(peer, pass.now + job_.limits.handover_max, before);
      // The peer may have begun without knowing this agent.
      if (has_told_start_)
        job_.messenger.SendTo(peer, LabelMessage::kStarted, {}, pass.out);
    }
    if (before.Contains(job_.self) &&
        (is_new || !labels_.places.placement().Contains(job_.self))) {
      labels_.handover.Owe(peer);
    }
  }
}

void HomeChange::ExpectHandover(absl::Time now, AgentId leaver) {
  if (leaver == job_.self || !labels_.places.placement().Contains(leaver))
    return;
  labels_.handover.AwaitLeaver(leaver, now + job_.limits.handover_max,
                               labels_.places.placement());
}

void HomeChange::TellStart(Outbox& out) {
  has_told_start_ = true;
  for (const PlacementMember& member : labels_.places.placement().members()) {
    if (member.agent != job_.self) {
      job_.messenger.SendTo(member.agent, LabelMessage::kStarted, {}, out);
    }
  }
}

// Messages sent to `peer` before were lost.
void HomeChange::PeerStarted(const Pass& pass, AgentId peer) {
  if (!labels_.places.placement().Contains(peer)) {
    labels_.handover.NoteEarlyStart(peer);
    return;
  }
  labels_.handover.EndAwait(peer);  // a peer that has just started has nothing
  sender_.Forget(peer);
  labels_.handover.Owe(peer);
  offers_.NoteHandoverComplete(pass.now, peer);
  HandOverWatermarks(
      [&](const Label& row) { return labels_.places.HomeOf(row) == peer; },
      pass.out);
  conflicts_.MarkDigestsUntold(pass.now, [&](const Label& row) {
    return labels_.places.HomeOf(row) == peer;
  });
  for (const Label& label : labels_.shard.Select(
           [](const Label&, const LabelEntry&) { return true; })) {
    const LabelEntry& entry = *labels_.shard.Find(label);
    if (!entry.IsBound()) continue;
    if (!entry.is_home) {
      if (labels_.places.HomeOf(label) == peer) {
        labels_.handover.Give(peer, label);
        replication_.Announce(pass, label);
      }
      continue;
    }
    std::set<AgentId> targets;
    if (job_.forward) targets = retention_.RemoteConsumerHomes(label, entry);
    if (!entry.awaits_copies)
      replication_.AddMissingReplicas(label, entry, targets);
    if (targets.contains(peer))
      sender_.SendValue({peer}, label, pass.out, Sending::kMove);
  }
}

void HomeChange::HandOverWatermarks(
    absl::FunctionRef<bool(const Label& row)> moved, Outbox& out) {
  std::map<AgentId, WatermarksBody> bodies;
  for (auto& row : labels_.watermarks.BoundRows(moved)) {
    bodies[labels_.places.HomeOf(row.first)].done.push_back(row);
  }
  for (auto& row : labels_.watermarks.RetiredRows(moved)) {
    bodies[labels_.places.HomeOf(row.first)].retired.push_back(row);
  }
  for (const auto& [home, body] : bodies) {
    job_.messenger.SendTo(home, LabelMessage::kWatermarks,
                          EncodeWatermarks(body), out);
  }
}

void HomeChange::SendHandoverComplete(Outbox& out) {
  for (const AgentId to : labels_.handover.TakeComplete()) {
    job_.messenger.SendTo(to, LabelMessage::kWatermarks,
                          EncodeWatermarks({.handover_complete = true}), out);
  }
}

// False: it is malformed.
bool HomeChange::HandleWatermarks(absl::Time now, AgentId from,
                                  const WatermarksBody& body) {
  for (const auto* rows : {&body.done, &body.retired}) {
    for (const auto& [row, version] : *rows) {
      if (!labels_.places.IsKnown(row)) return false;
    }
  }
  for (const RowDigests& row : body.digests) {
    if (!labels_.places.IsKnown(row.row)) return false;
  }
  if (!conflicts_.LogDigests(body.digests, from)) return true;
  if (body.handover_complete) {
    labels_.handover.EndAwait(from);
    offers_.NoteHandoverComplete(now, from);
  }
  for (const auto& [row, version] : body.done) {
    labels_.watermarks.NoteBoundRow(row, version);
    if (offers_.IsRecovering(now))
      labels_.watermarks.MarkUnverified(row, version);
  }
  for (const auto& [row, version] : body.retired) {
    labels_.watermarks.NoteRetiredRow(row, version);
  }
  return true;
}

void HomeChange::PublishToNew(const Pass& pass, const Label& label,
                              const LabelEntry& entry,
                              const Placement& before) {
  std::set<AgentId> targets;
  if (job_.forward) {
    size_t ordinal = 0;
    job_.relations.ForEachReader(label, [&](const Reader& reader) {
      const uint64_t key =
          labels_.places.KeyOf(job_.relations.FirstMade(reader));
      const AgentId home = labels_.places.placement().Home(key);
      if (!entry.consumers.Has(ordinal++) && home != before.Home(key)) {
        targets.insert(home);
      }
      return true;
    });
  }
  replication_.QueueCopies(pass.now, label);
  targets.erase(job_.self);
  if (!targets.empty()) {
    sender_.SendValue(std::move(targets), label, pass.out, Sending::kMove);
  }
}

void HomeChange::ReviewEntry(const Pass& pass, const Label& label,
                             const Placement& before) {
  LabelEntry* entry = labels_.shard.Find(label);
  if (entry == nullptr) return;
  auto gone = [this](AgentId agent) {
    return !labels_.places.placement().Contains(agent);
  };
  entry->waiters.erase(
      std::remove_if(entry->waiters.begin(), entry->waiters.end(), gone),
      entry->waiters.end());
  entry->copies.erase(
      std::remove_if(entry->copies.begin(), entry->copies.end(), gone),
      entry->copies.end());
  const uint64_t key = labels_.places.KeyOf(label);
  const bool is_home = labels_.places.placement().Home(key) == job_.self;
  if (!entry->IsBound()) {
    // Waiters ask again at the new home.
    if (!is_home || entry->waiters.empty()) labels_.shard.Erase(label);
    return;
  }
  const Value value = entry->value;
  const bool is_new_home = is_home && !entry->is_home;
  const bool has_heir = entry->is_home && !is_home;
  const bool has_no_former =
      !before.members().empty() && gone(before.Home(key));
  if (has_heir || (is_new_home && has_no_former)) {
    job_.stats.bytes_moved += value.bytes();
  }
  if (is_new_home) {
    entry->copies.clear();
    replication_.BecomeHome(label, *entry, offers_.IsRecovering(pass.now),
                            pass.out);
    replication_.Announce(pass, label);
  } else if (is_home) {
    PublishToNew(pass, label, *entry, before);
    entry->announce_interval_ms = 0;
    replication_.ScheduleAnnounce(pass.now, *entry);
  } else {
    const bool alone = entry->is_home || before.RankOf(key, job_.self) < 0;
    entry->is_home = false;
    entry->consumers.Reset(0);
    entry->announce_interval_ms = 0;
    replication_.ScheduleAnnounce(pass.now, *entry);
    if (alone) {
      labels_.handover.Give(labels_.places.placement().Home(key), label);
      sender_.SendValue({labels_.places.placement().Home(key)}, label, pass.out,
                        Sending::kMove);
    } else if (labels_.places.placement().Home(key) != before.Home(key)) {
      replication_.Announce(pass, label);
    }
    return;
  }
  retention_.NoteBound(label, value, pass.out);
}

}  // namespace dogged

// What a change of view means, and what time means: announcing again,
// demanding again, searching from the results when nothing moves.
#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/agent/job_run.h"

namespace dogged {

void JobRun::SetMembers(absl::Time now, PlacementView view, Outbox& out) {
  const Placement before = places_.SetView(std::move(view));
  if (!failure_.ok()) return;
  const bool lost = std::any_of(
      before.members().begin(), before.members().end(),
      [this](const auto& m) { return !places_.placement().Contains(m.agent); });
  if (lost) {
    times_.NoteLoss(now);
    absl::erase_if(offers_.others, [this](AgentId agent) {
      return !places_.placement().Contains(agent);
    });
    NoteOffer(now);
    rebuild_after_ = now + times_.Patience(now);
  }
  ReviewHandovers(now, before, out);
  marks_.Forget([this](const Label& row) { return !places_.IsHome(row); });
  wide_.ForgetAll();
  if (lost) {
    for (const auto& [row, version] : marks_.BoundRows([&](const Label& r) {
           return places_.IsHome(r) &&
                  !places_.placement().Contains(before.Home(places_.KeyOf(r)));
         })) {
      marks_.Doubt(row, version);
    }
  }
  for (const Label& label :
       shard_.Select([](const Label&, const Entry&) { return true; })) {
    ReviewEntry(now, label, before, out);
  }
  HandOverMarks(
      [&](const Label& row) {
        return before.Home(places_.KeyOf(row)) == self_ && !places_.IsHome(row);
      },
      out);
  // Also of rows that were others': their home may be dead.
  MarkDigestsUntold(now, [&](const Label& row) {
    return before.Home(places_.KeyOf(row)) != places_.HomeOf(row);
  });
  TellDigests(now, out);
  DropMovedTasks();
  if (forward_) {
    ClaimMovedTasks();
    SweepStealing(now, out);
  }
  search_.claims.Forget([this](const Task& task, AgentId holder) {
    return !places_.placement().Contains(holder) || !places_.IsMine(task);
  });
  AskAllAgain(now);
  leaves_.emplace(relations_, INT64_MIN, root_.LeavesUntil());
  root_.leaves_until = root_.LeavesUntil();
  ListResults();
}

void JobRun::ReviewHandovers(absl::Time now, const Placement& before,
                             Outbox& out) {
  handover_.ForgetIf(
      [this](AgentId to) { return !places_.placement().Contains(to); });
  const bool is_beginner =
      before.members().empty() || handover_.IsHeldAltogether();
  for (const PlacementMember& member : places_.placement().members()) {
    const AgentId peer = member.agent;
    if (peer == self_) continue;
    const bool is_new = !before.Contains(peer);
    if (is_beginner && is_new) {
      handover_.Await(peer, now + limits_.handover_max, before);
      // It may have begun without knowing this agent.
      if (has_told_start_) mail_.SendTo(peer, JobMessage::kStarted, {}, out);
    }
    if (before.Contains(self_) &&
        (is_new || !places_.placement().Contains(self_))) {
      handover_.Owe(peer);
    }
  }
}

// Their inputs' holders tell the new home.
void JobRun::DropMovedTasks() {
  std::vector<Task> moved;
  // Gifts stay while they are their giver's.
  const auto look_at = [&](const Task& task) {
    const auto picked = search_.picked.find(task);
    const AgentId before =
        picked == search_.picked.end() || picked->second.giver.IsNone()
            ? self_
            : picked->second.giver;
    if (places_.HomeOf(task) != before) moved.push_back(task);
  };
  activations_.ForEach([&](const Activation& record) {
    look_at(record.task);
    return true;
  });
  for (const Task& task : pursuits_.All()) look_at(task);
  for (const Task& task : storage_.StagedTasks()) look_at(task);
  for (const Task& task : unsupplied_.All()) look_at(task);
  for (const Task& task : parked_.All()) look_at(task);
  for (const Task& task : root_.ahead.All()) look_at(task);
  for (const Task& task : stealing_.Given()) look_at(task);
  for (const Task& task : moved) DropTask(task);
  for (const Task& task : in_flight_) {
    if (!places_.IsMine(task)) handover_.Give(places_.HomeOf(task), task);
  }
}

// What runs here goes on, and its home, which may be another now, hears that it
// does (SweepStealing). Walks claim what they find at its home of the time.
void JobRun::ClaimMovedTasks() {
  for (const Task& task : in_flight_) {
    if (places_.IsMine(task)) {
      search_.picked.erase(task);
    } else {
      search_.picked[task] = {.wanted = relations_.FirstCreated(task),
                              .granted = true,
                              .giver = places_.HomeOf(task)};
    }
  }
}

void JobRun::ListResults() {
  root_.results.clear();
  search_.other_results.clear();
  root_.rounds.ForEachDemanded([&](const Label& label) {
    if (places_.IsHome(label)) {
      root_.results.push_back(label);
    } else if (!forward_) {
      search_.other_results.push_back(label);
    }
    return true;
  });
  for (size_t i = root_.results.size(); i > 1; --i) {
    std::swap(root_.results[i - 1], root_.results[static_cast<size_t>(
                                        rng_.Below(static_cast<int64_t>(i)))]);
  }
  root_.next_result = 0;
  stats_.results_durable = 0;
  stats_.results_durable_bytes = 0;
}

void JobRun::RaiseRound(int64_t round, bool is_last) {
  root_.has_news |= root_.rounds.Raise(round, is_last);
}

// Another round of a loop exists, or the last one is known: its tasks may run,
// and what is a result only if the loop had ended before, is none.
void JobRun::ActOnRounds(absl::Time now, Outbox& out) {
  stillness_.NoteProgress(now);
  next_sweep_ = now;
  // Those that were drawn before are not drawn again, unless some are left.
  leaves_.emplace(relations_,
                  leaves_.has_value() ? INT64_MIN : root_.leaves_until,
                  root_.LeavesUntil());
  root_.leaves_until = root_.LeavesUntil();
  ListResults();
  const auto may_start = [this](const Task& task) {
    return !root_.rounds.IsAhead(task);
  };
  while (auto record = root_.ahead.Take(may_start)) Submit(std::move(record));
  for (const Label& label : shard_.Select([](const Label&, const Entry& entry) {
         return entry.is_home && entry.consumers.left() == 0;
       })) {
    RetireIfUnneeded(label, out);
  }
}

void JobRun::ExpectHandover(absl::Time now, AgentId leaver) {
  if (leaver == self_ || !places_.placement().Contains(leaver)) return;
  handover_.Await(leaver, now + limits_.handover_max, places_.placement());
}

void JobRun::TellStart(Outbox& out) {
  has_told_start_ = true;
  for (const PlacementMember& member : places_.placement().members()) {
    if (member.agent != self_) {
      mail_.SendTo(member.agent, JobMessage::kStarted, {}, out);
    }
  }
}

// What was sent to `peer` before was lost.
void JobRun::PeerStarted(absl::Time now, AgentId peer, Outbox& out) {
  if (!places_.placement().Contains(peer)) {
    handover_.NoteEarlyStart(peer);
    return;
  }
  handover_.EndAwait(peer);  // who has just started has nothing to give
  credit_.Forget(peer);
  debts_.Forget(peer);
  handover_.Owe(peer);
  if (offers_.others.erase(peer) > 0) NoteOffer(now);
  AskAllAgain(now);
  HandOverMarks([&](const Label& row) { return places_.HomeOf(row) == peer; },
                out);
  MarkDigestsUntold(
      now, [&](const Label& row) { return places_.HomeOf(row) == peer; });
  for (const Label& label :
       shard_.Select([](const Label&, const Entry&) { return true; })) {
    const Entry& entry = *shard_.Find(label);
    if (entry.value.IsNone()) continue;
    if (!entry.is_home) {
      if (places_.HomeOf(label) == peer) {
        handover_.Give(peer, label);
        Announce(now, label, out);
      }
      continue;
    }
    absl::btree_set<AgentId> targets;
    if (forward_) targets = RemoteConsumerHomes(label, entry);
    AddMissingReplicas(label, entry, targets);
    if (!targets.contains(peer)) continue;
    stats_.bytes_resent += entry.value.bytes();
    SendValue({peer}, label, out);
  }
}

// Homes have changed, or have heard nothing: what was asked so far says nothing
// about how soon they answer.
void JobRun::AskAllAgain(absl::Time now) {
  pursuits_.CheckAllAt(now);
  wishes_.asks.clear();
  for (auto& [label, interval] : wishes_.wanted) {
    interval = 2 * limits_.sweep_interval;
    wishes_.asks.emplace(now, label);
  }
  next_sweep_ = now;
}

void JobRun::HandOverMarks(absl::FunctionRef<bool(const Label& row)> moved,
                           Outbox& out) {
  absl::btree_map<AgentId, MarksBody> bodies;
  for (auto& row : marks_.BoundRows(moved)) {
    bodies[places_.HomeOf(row.first)].done.push_back(row);
  }
  for (auto& row : marks_.RetiredRows(moved)) {
    bodies[places_.HomeOf(row.first)].retired.push_back(row);
  }
  for (const auto& [home, body] : bodies) {
    mail_.SendTo(home, JobMessage::kMarks, EncodeMarks(body), out);
  }
}

void JobRun::MarkDigestsUntold(
    absl::Time now, absl::FunctionRef<bool(const Label& row)> moved) {
  for (const RowDigests& row : digests_.Select(moved)) {
    if (!places_.IsHome(row.row)) digests_.MarkUntold(row.row, now);
  }
}

void JobRun::TellDigests(absl::Time now, Outbox& out) {
  constexpr int64_t kDigestsAtOnce = 1 << 13;
  struct Part {
    MarksBody body;
    int64_t digest_count = 0;
  };
  absl::btree_map<AgentId, Part> parts;
  const auto send = [&](AgentId home, Part& part) {
    mail_.SendTo(home, JobMessage::kMarks, EncodeMarks(part.body), out);
    part = Part();
  };
  for (RowDigests& row : digests_.TakeUntold(now)) {
    const AgentId home = places_.HomeOf(row.row);
    if (home == self_) continue;
    Part& part = parts[home];
    part.digest_count += std::ssize(row.versions);
    part.body.digests.push_back(std::move(row));
    if (part.digest_count >= kDigestsAtOnce) send(home, part);
  }
  for (auto& [home, part] : parts) {
    if (part.digest_count > 0) send(home, part);
  }
}

void JobRun::TellThrough(Outbox& out) {
  for (const AgentId to : handover_.TakeThrough()) {
    mail_.SendTo(to, JobMessage::kMarks, EncodeMarks({.is_through = true}),
                 out);
  }
}

// False: it is malformed.
bool JobRun::HandleMarks(absl::Time now, AgentId from, const MarksBody& body) {
  for (const auto* rows : {&body.done, &body.retired}) {
    for (const auto& [row, version] : *rows) {
      if (!places_.IsKnown(row)) return false;
    }
  }
  for (const RowDigests& row : body.digests) {
    if (!places_.IsKnown(row.row)) return false;
  }
  if (!LogDigests(body.digests, from)) return true;
  if (body.is_through) {
    handover_.EndAwait(from);
    if (offers_.others.erase(from) > 0) NoteOffer(now);
  }
  for (const auto& [row, version] : body.done) {
    marks_.NoteBoundRow(row, version);
    if (AwaitsOffers(now)) marks_.Doubt(row, version);
  }
  for (const auto& [row, version] : body.retired) {
    marks_.NoteRetiredRow(row, version);
  }
  return true;
}

void JobRun::PublishToNew(absl::Time now, const Label& label,
                          const Entry& entry, const Placement& before,
                          Outbox& out) {
  absl::btree_set<AgentId> targets;
  if (forward_) {
    size_t ordinal = 0;
    relations_.ForEachConsumer(label, [&](const Task& task, int) {
      const uint64_t task_key = places_.KeyOf(relations_.FirstCreated(task));
      const AgentId home = places_.placement().Home(task_key);
      if (!entry.consumers.Has(ordinal++) && home != before.Home(task_key)) {
        targets.insert(home);
      }
      return true;
    });
  }
  QueueCopies(now, label);
  targets.erase(self_);
  if (!targets.empty()) {
    stats_.bytes_resent +=
        entry.value.bytes() * static_cast<int64_t>(targets.size());
    SendValue(std::move(targets), label, out, Sending::kCopy);
  }
}

void JobRun::ReviewEntry(absl::Time now, const Label& label,
                         const Placement& before, Outbox& out) {
  Entry* entry = shard_.Find(label);
  if (entry == nullptr) return;
  auto gone = [this](AgentId agent) {
    return !places_.placement().Contains(agent);
  };
  entry->waiters.erase(
      std::remove_if(entry->waiters.begin(), entry->waiters.end(), gone),
      entry->waiters.end());
  entry->copies.erase(
      std::remove_if(entry->copies.begin(), entry->copies.end(), gone),
      entry->copies.end());
  const uint64_t key = places_.KeyOf(label);
  const bool is_home = places_.placement().Home(key) == self_;
  if (entry->value.IsNone()) {
    // Waiters ask again at the new home.
    if (!is_home || entry->waiters.empty()) shard_.Erase(label);
    return;
  }
  const Value value = entry->value;
  if (is_home && !entry->is_home) {
    entry->copies.clear();
    BecomeHome(label, *entry);
    if (AwaitsOffers(now)) NoteFound(label, out);
    marks_.NoteBound(label);
    Announce(now, label, out);
    TellLocalConsumers(label, value, self_, out);
  } else if (is_home) {
    PublishToNew(now, label, *entry, before, out);
    entry->announce_interval_ms = 0;
    ScheduleAnnounce(now, *entry);
    TellLocalConsumers(label, value, self_, out);
  } else {
    const bool alone = entry->is_home || before.RankOf(key, self_) < 0;
    entry->is_home = false;
    entry->consumers.Reset(0);
    entry->announce_interval_ms = 0;
    ScheduleAnnounce(now, *entry);
    if (alone) {
      stats_.bytes_resent += value.bytes();
      handover_.Give(places_.placement().Home(key), label);
      SendValue({places_.placement().Home(key)}, label, out, Sending::kCopy);
    } else if (places_.placement().Home(key) != before.Home(key)) {
      Announce(now, label, out);
    }
    return;
  }
  ReportIfDurable(label, out);
  RetireIfUnneeded(label, out);
}

void JobRun::CountDurableResults() {
  // The condition of a loop is no result.
  while (root_.rounds.HasEnded() &&
         stats_.results_durable < static_cast<int64_t>(root_.results.size())) {
    const Label& label =
        root_.results[static_cast<size_t>(stats_.results_durable)];
    const Entry* entry = shard_.Find(label);
    if (entry == nullptr || entry->value.IsNone() || !entry->is_home ||
        !IsDurable(label, *entry)) {
      return;
    }
    ++stats_.results_durable;
    stats_.results_durable_bytes += entry->value.bytes();
  }
}

void JobRun::Tick(absl::Time now, Outbox& out) {
  if (!failure_.ok()) return;
  if (std::exchange(root_.has_news, false)) ActOnRounds(now, out);
  credit_.BeginPass(now);
  PayDebts(now, out);
  AdvanceStorage(now, out);
  handover_.Expire(now);
  if (now >= next_sweep_) Sweep(now, out);
  SendCopies(now, out);
  mail_.CountPublications();
  if (!offers_.is_reading) TellThrough(out);
  out.WakeAt(next_sweep_);
  out.WakeAt(handover_.NextLimit());
}

// Tasks that have waited for long demand what they miss, some at a time: where
// many wait, most of them wait for workers, or for tasks that wait themselves.
// What lacks least comes first, for it is nearest to what runs; then the
// oldest.
void JobRun::PursueOverdue(absl::Time now, Outbox& out) {
  constexpr int64_t kVisitedAtOnce = 4096;
  constexpr int64_t kPursuedAtOnce = 256;
  const auto old_age =
      static_cast<int32_t>(times_.Patience(now) / limits_.sweep_interval) + 1;
  std::vector<std::tuple<int32_t, int32_t, Task>> due;
  activations_.Age(kVisitedAtOnce, [&](const Activation& record, int32_t age) {
    if (age >= old_age && !IsPursued(record.task)) {
      due.emplace_back(record.missing_count, -age, record.task);
    }
  });
  const auto end = due.begin() + std::min(kPursuedAtOnce, std::ssize(due));
  std::partial_sort(due.begin(), end, due.end());
  due.erase(end, due.end());
  for (const auto& [missing_count, youth, task] : due) {
    // Its marks may have come after some of its inputs, from a former home.
    if (IsWhollyDone(task)) {
      DropTask(task);
    } else if (pursuits_.size() <= limits_.pursuits_max / 16) {
      PursueTask(now, task, /*depth=*/1, /*certain=*/false, out);
    }
  }
}

void JobRun::Sweep(absl::Time now, Outbox& out) {
  next_sweep_ = now + limits_.sweep_interval;
  if (!stillness_.has_begun()) stillness_.BeginAnew(now);
  stillness_.Fade();

  if (forward_ && !AwaitsOffers(now)) PursueOverdue(now, out);
  constexpr int64_t kCheckedAtOnce = 2048;
  for (const Task& task : pursuits_.Due(now, kCheckedAtOnce)) {
    const Pursuit* pursuit = pursuits_.Find(task);
    if (pursuit == nullptr) continue;
    if (pursuit->interval >= limits_.backoff_max &&
        activations_.Contains(task)) {
      // Others that are overdue have their turn. What was certain is found anew
      // from the results if nothing moves.
      pursuits_.Erase(task);
      activations_.Renew(task);
    } else {
      PursueTask(now, task, pursuit->depth, pursuit->certain, out);
    }
  }

  TellDigests(now, out);
  for (const Label& label : shard_.TakeDue(now)) Announce(now, label, out);
  CrossOffReported(out);
  wide_.Sweep();
  SweepWanted(now, out);
  if (forward_) {
    SweepStealing(now, out);
  } else {
    SweepSearch(now, out);
  }
  if (now >= rebuild_after_) {
    for (const OpenDemand& open : std::exchange(delayed_, {})) {
      open_.Add(open);
    }
  }
  if (!root_.is_demanded) {
    for (const Label& label : marks_.TakeAllKept()) Drop(label, out);
  }
  CountDurableResults();

  // The certain way: when nothing moves, results that are not bound demand.
  if (forward_ && in_flight_.empty() &&
      stillness_.IsLong(now, 2 * times_.Patience(now), limits_.backoff_max)) {
    constexpr int kResultsAtOnce = 64;
    for (int i = 0; i < kResultsAtOnce && OpenNextResult(); ++i) {
    }
    stillness_.BeginAnew(now);
  }
}

}  // namespace dogged

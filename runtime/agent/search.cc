// The walk of an idle agent, spoken in messages: lookups and claims at homes.
// [REM] "REM Search". What a walk finds runs here, also if its home is
// elsewhere, and is published to its home.
#include <algorithm>
#include <utility>

#include "runtime/agent/job_run.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// A walk that found nothing is followed by another one so much later, then
// twice as much.
constexpr absl::Duration kWalkPauseMin = absl::Milliseconds(1);
constexpr absl::Duration kWalkPauseMax = absl::Milliseconds(50);

}  // namespace

absl::Status JobRun::ReceiveSearch(absl::Time now, AgentId from,
                                   JobMessage kind, absl::string_view body,
                                   Outbox& out) {
  const absl::Status refused =
      absl::InvalidArgumentError("message about no label of this job");
  if (kind == JobMessage::kLookup) {
    DOGGED_ASSIGN_OR_RETURN(const LookupBody b, DecodeLookup(body));
    if (!places_.IsKnown(b.label)) return refused;
    mail_.SendTo(from, JobMessage::kAnswer, EncodeAnswer(AnswerTo(now, b)),
                 out);
    return absl::OkStatus();
  }
  if (kind == JobMessage::kAnswer) {
    DOGGED_ASSIGN_OR_RETURN(const AnswerBody b, DecodeAnswer(body));
    if (!places_.IsKnown(b.label)) return refused;
    HandleAnswer(now, b, out);
    return absl::OkStatus();
  }
  if (kind == JobMessage::kSteal) {
    DOGGED_ASSIGN_OR_RETURN(const StealBody b, DecodeSteal(body));
    if (places_.placement().Contains(from)) {
      stealing_.NoteRoom(from, b.count, now + 2 * limits_.sweep_interval);
    }
    return absl::OkStatus();
  }
  DOGGED_ASSIGN_OR_RETURN(const ClaimBody b, DecodeClaim(body));
  if (!relations_.IsTask(b.task) || !places_.IsKnown(b.wanted)) return refused;
  if (kind == JobMessage::kGiven) {
    HandleGift(now, from, b, out);
    return absl::OkStatus();
  }
  if (kind == JobMessage::kClaim) {
    HandleClaim(now, from, b, out);
  } else if (!b.granted) {
    if (!in_flight_.contains(b.task)) DropTask(b.task);
  } else if (const auto picked = search_.picked.find(b.task);
             picked != search_.picked.end()) {
    picked->second.granted = true;
    AskForPicked(now, b.task, out);
  }
  return absl::OkStatus();
}

void JobRun::Search(absl::Time now, Outbox& out) {
  if (!root_.is_demanded) return;
  const int64_t wanted = executor_.worker_count() + 1;
  const auto busy = [this] {
    return std::max<int64_t>(
               std::min(executor_.unfinished_count(), running_count()),
               static_cast<int64_t>(search_.picked.size())) +
           static_cast<int64_t>(search_.walks.size());
  };
  while (now >= search_.next_walk && busy() < wanted && StartWalk(now)) {
    if (!AdvanceWalk(now, *search_.walks.back().walk, out))
      search_.walks.pop_back();
  }
  if (busy() < wanted)
    out.WakeAt(std::max(search_.next_walk, now + kWalkPauseMin));
}

bool JobRun::StartWalk(absl::Time now) {
  // Own ones first, then anyone's: from a random place on, the next unbound.
  std::optional<Label> start;
  for (const std::vector<Label>* labels :
       {&root_.results, &search_.other_results}) {
    const auto count = static_cast<int64_t>(labels->size());
    if (count == 0 || start.has_value()) continue;
    const int64_t at = rng_.Below(count);
    for (int64_t i = 0; i < count && !start.has_value(); ++i) {
      const Label& label = (*labels)[static_cast<size_t>((at + i) % count)];
      const Entry* entry = shard_.Find(label);
      if (entry == nullptr || entry->value.IsNone()) start = label;
    }
  }
  if (!start.has_value()) return false;
  search_.walks.push_back(
      {std::make_unique<Walk>(
           relations_, Rng(rng_.Next()),
           static_cast<size_t>(limits_.walk_frames_max),
           [this](const Label& label) { return places_.IsHome(label); }),
       now});
  search_.walks.back().walk->Start(*start);
  return true;
}

bool JobRun::AdvanceWalk(absl::Time now, Walk& walk, Outbox& out) {
  while (true) {
    const Walk::Step step = walk.Next();
    switch (step.kind) {
      case Walk::Step::Kind::kWait:
        return true;
      case Walk::Step::Kind::kEnd:
        search_.walk_pause =
            std::clamp(2 * search_.walk_pause, kWalkPauseMin, kWalkPauseMax);
        search_.next_walk = now + search_.walk_pause;
        return false;
      case Walk::Step::Kind::kRun:
        if (Pick(now, step.task, step.wanted, out)) return false;
        break;
      case Walk::Step::Kind::kLookup:
        for (const auto& [label, insist] : step.lookups) {
          if (!places_.IsHome(label) && !wide_.ValueOf(label).IsNone()) {
            walk.OnAnswer(label, LabelState::kBound, marks_.NewestBound(label));
            continue;
          }
          if (!places_.IsHome(label)) {
            mail_.SendTo(places_.HomeOf(label), JobMessage::kLookup,
                         EncodeLookup({label, insist}), out);
            continue;
          }
          const AnswerBody answer = AnswerTo(now, {label, insist});
          walk.OnAnswer(label, answer.state, answer.newest);
        }
        break;
    }
  }
}

AnswerBody JobRun::AnswerTo(absl::Time now, const LookupBody& lookup) {
  const Label& label = lookup.label;
  AnswerBody out{.label = label, .newest = marks_.NewestBound(label)};
  const Entry* entry = shard_.Find(label);
  if (entry != nullptr && !entry->value.IsNone()) {
    out.state = LabelState::kBound;
    return out;
  }
  // Who asks for a former condition is late, and will hear of the round.
  const bool is_past =
      root_.rounds.IsCondition(label) && !root_.rounds.IsResult(label);
  if (marks_.IsRetired(label) && (!lookup.insist || is_past)) {
    out.state = LabelState::kRetired;
    return out;
  }
  if (now < rebuild_after_ && !out.newest.has_value()) {
    out.state = LabelState::kClaimed;  // what was lost may yet be found
    return out;
  }
  ReopenIfGone(label);
  const std::optional<Task> producer = relations_.ProducerOf(label);
  if (options_.claims && producer.has_value() &&
      (in_flight_.contains(*producer) ||
       search_.claims.IsClaimed(now, *producer))) {
    out.state = LabelState::kClaimed;
  }
  return out;
}

bool JobRun::TakeClaim(absl::Time now, const ClaimBody& body, AgentId holder) {
  const Entry* entry = shard_.Find(body.wanted);
  if (entry != nullptr && !entry->value.IsNone()) return false;
  if (holder != self_ && in_flight_.contains(body.task)) return false;
  return search_.claims.Take(now, body.task, holder, 4 * times_.LongPatience());
}

bool JobRun::Pick(absl::Time now, const Task& task, const Label& wanted,
                  Outbox& out) {
  if (in_flight_.contains(task) || search_.picked.contains(task)) return false;
  const bool is_mine = places_.IsMine(task);
  if (options_.claims && is_mine && !TakeClaim(now, {task, wanted}, self_)) {
    return false;
  }
  const bool granted = is_mine || !options_.claims;
  search_.picked[task] = {
      .wanted = wanted, .since = now, .asked = now, .granted = granted};
  AskForPicked(now, task, out);
  return true;
}

void JobRun::AskForPicked(absl::Time now, const Task& task, Outbox& out) {
  const auto picked = search_.picked.find(task);
  if (picked == search_.picked.end() || in_flight_.contains(task)) return;
  picked->second.asked = now;
  if (!picked->second.granted) {
    mail_.SendTo(places_.HomeOf(task), JobMessage::kClaim,
                 EncodeClaim({.task = task, .wanted = picked->second.wanted}),
                 out);
    return;
  }
  FetchInputs(task, AgentId(), out);
}

void JobRun::FetchInputs(const Task& task, AgentId coming_from, Outbox& out) {
  if (relations_.RequiredCount(task) == 0) {
    StartLeaf(task);
    return;
  }
  const std::vector<int> missing = activations_.MissingUses(task);
  std::vector<std::pair<int, Value>> at_hand;
  relations_.ForEachRequired(task, [&](int use, const Label& label) {
    if (std::find(missing.begin(), missing.end(), use) == missing.end()) {
      return;
    }
    if (Value value = ValueAtHand(label); !value.IsNone()) {
      at_hand.emplace_back(use, std::move(value));
      return;
    }
    if (wide_.IsWide(label)) wide_.NoteAsker(label, task);
    if (places_.HomeOf(label) != coming_from) {
      mail_.SendTo(places_.HomeOf(label), JobMessage::kDemand,
                   EncodeDemand({.label = label, .task = task, .lazy = true}),
                   out);
    }
  });
  for (const auto& [use, value] : at_hand) MarkInput(task, use, value);
}

void JobRun::HandleAnswer(absl::Time now, const AnswerBody& body, Outbox& out) {
  for (size_t i = 0; i < search_.walks.size();) {
    search_.walks[i].heard = now;
    search_.walks[i].walk->OnAnswer(body.label, body.state, body.newest);
    if (AdvanceWalk(now, *search_.walks[i].walk, out)) {
      ++i;
    } else {
      search_.walks.erase(search_.walks.begin() + static_cast<int64_t>(i));
    }
  }
}

void JobRun::HandleClaim(absl::Time now, AgentId from, const ClaimBody& body,
                         Outbox& out) {
  if (!places_.IsMine(body.task))
    return;  // his view is another; he tries elsewhere
  if (forward_) {
    const absl::Time limit = now + limits_.gift_silence_max;
    if (stealing_.Extend(body.task, from, limit)) return;
    // Its home was elsewhere when he began to run it.
    if (auto record = parked_.Remove(body.task); record != nullptr) {
      stealing_.Give(from, limit, std::move(record));
    } else if (!in_flight_.contains(body.task) && !IsDone(body.task)) {
      stealing_.Expect(body.task, from, limit);
    }
    return;
  }
  const bool granted = TakeClaim(now, body, from);
  mail_.SendTo(from, JobMessage::kClaimed,
               EncodeClaim({body.task, body.wanted, granted}), out);
}

// Messages may be lost: what is not answered is asked again. Inputs may be
// dropped before they are fetched: then the task is given up, and another walk
// finds what is missing.
void JobRun::SweepSearch(absl::Time now, Outbox& out) {
  // Homes answer between tasks, however long those take; values may be long.
  const absl::Time unanswered = now - limits_.sweep_interval;
  const absl::Time overdue = now - times_.Patience(now);
  for (size_t i = search_.walks.size(); i-- > 0;) {
    SearchState::ActiveWalk& active = search_.walks[i];
    if (active.heard > unanswered) continue;
    active.heard = now;
    active.walk->AskAgain();
    if (AdvanceWalk(now, *active.walk, out)) continue;
    search_.walks.erase(search_.walks.begin() + static_cast<int64_t>(i));
  }
  std::vector<Task> waiting;
  std::vector<Task> running;
  for (const auto& [task, picked] : search_.picked) {
    if (in_flight_.contains(task)) {
      running.push_back(task);
    } else if (picked.asked <= (picked.granted ? overdue : unanswered)) {
      waiting.push_back(task);
    }
  }
  std::sort(running.begin(), running.end());
  std::sort(waiting.begin(), waiting.end());
  for (const Task& task : waiting) {
    const auto picked = search_.picked.find(task);
    if (picked == search_.picked.end()) continue;
    if (picked->second.since <= now - 4 * times_.LongPatience()) {
      DropTask(task);
    } else {
      AskForPicked(now, task, out);
    }
  }
  if (!options_.claims) return;
  for (const Task& task : running) {
    if (places_.IsMine(task)) {
      search_.claims.Take(now, task, self_, 4 * times_.LongPatience());
    } else {
      mail_.SendTo(places_.HomeOf(task), JobMessage::kClaim,
                   EncodeClaim({task, search_.picked[task].wanted}), out);
    }
  }
}

}  // namespace dogged

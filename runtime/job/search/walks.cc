#include "runtime/job/search/walks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/base/status.h"

namespace dogged {
namespace {

// A walk that found nothing is followed by another one so much later, then
// twice as much.
constexpr absl::Duration kWalkPauseMin = absl::Milliseconds(1);
constexpr absl::Duration kWalkPauseMax = absl::Milliseconds(50);

}  // namespace

void Walks::Search(const Pass& pass) {
  if (!job_.goal.is_demanded) return;
  const int64_t wanted = job_.executor.worker_count() + 1;
  const auto busy = [this] {
    return std::max<int64_t>(std::min(job_.executor.unfinished_count(),
                                      tasks_.running_count()),
                             std::ssize(tasks_.remote())) +
           std::ssize(walks_);
  };
  while (pass.now >= next_walk_ && busy() < wanted && StartWalk(pass.now)) {
    if (!AdvanceWalk(pass, *walks_.back().walk)) walks_.pop_back();
  }
  if (busy() < wanted)
    pass.out.WakeAt(std::max(next_walk_, pass.now + kWalkPauseMin));
}

bool Walks::StartWalk(absl::Time now) {
  // Own ones first, then anyone's: from a random place on, the next unbound.
  std::optional<Label> start;
  for (const std::vector<Label>* labels :
       {&job_.goal.results, &job_.goal.other_results}) {
    const auto count = std::ssize(*labels);
    if (count == 0 || start.has_value()) continue;
    const int64_t at = job_.rng.Below(count);
    for (int64_t i = 0; i < count && !start.has_value(); ++i) {
      const Label& label = (*labels)[(at + i) % count];
      if (!labels_.shard.IsBound(label)) start = label;
    }
  }
  if (!start.has_value()) return false;
  walks_.push_back(
      {std::make_unique<Walk>(
           job_.relations, Rng(job_.rng.Next()), job_.limits.walk_frames_max,
           [this](const Label& label) { return labels_.places.IsHome(label); }),
       now});
  walks_.back().walk->Start(*start);
  return true;
}

bool Walks::AdvanceWalk(const Pass& pass, Walk& walk) {
  while (true) {
    const Walk::Step step = walk.Next();
    switch (step.kind) {
      case Walk::Step::Kind::kWait:
        return true;
      case Walk::Step::Kind::kEnd:
        walk_pause_ = std::clamp(2 * walk_pause_, kWalkPauseMin, kWalkPauseMax);
        next_walk_ = pass.now + walk_pause_;
        return false;
      case Walk::Step::Kind::kRun:
        if (TakeRemote(pass, step.task, step.wanted)) return false;
        break;
      case Walk::Step::Kind::kLookup:
        for (const auto& [label, insist] : step.lookups) {
          if (!labels_.places.IsHome(label) &&
              !labels_.high_fanout.ValueOf(label).IsNone()) {
            walk.OnAnswer(label, LabelState::kBound,
                          labels_.watermarks.NewestBound(label));
            continue;
          }
          if (!labels_.places.IsHome(label)) {
            job_.messenger.SendTo(labels_.places.HomeOf(label),
                                  JobMessage::kLookup,
                                  EncodeLookup({label, insist}), pass.out);
            continue;
          }
          const AnswerBody answer = AnswerTo(pass.now, {label, insist});
          walk.OnAnswer(label, answer.state, answer.newest);
        }
        break;
    }
  }
}

AnswerBody Walks::AnswerTo(absl::Time now, const LookupBody& lookup) {
  const Label& label = lookup.label;
  AnswerBody out{.label = label,
                 .newest = labels_.watermarks.NewestBound(label)};
  if (labels_.shard.IsBound(label)) {
    out.state = LabelState::kBound;
    return out;
  }
  // An agent that asks for a former condition is late, and will hear of the
  // round.
  const bool is_past =
      job_.goal.rounds.IsCondition(label) && !job_.goal.rounds.IsResult(label);
  if (labels_.watermarks.IsRetired(label) && (!lookup.insist || is_past)) {
    out.state = LabelState::kRetired;
    return out;
  }
  if (now < job_.rebuild_after && !out.newest.has_value()) {
    out.state = LabelState::kClaimed;  // lost labels may yet be found
    return out;
  }
  demands_.RecomputeIfGone(label);
  const std::optional<Task> producer = job_.relations.ProducerOf(label);
  if (job_.options.claims && producer.has_value() &&
      (tasks_.IsInFlight(*producer) ||
       tasks_.claims().IsClaimed(now, *producer))) {
    out.state = LabelState::kClaimed;
  }
  return out;
}

bool Walks::TakeClaim(absl::Time now, const ClaimBody& body, AgentId holder) {
  if (labels_.shard.IsBound(body.wanted)) return false;
  if (holder != job_.self && tasks_.IsInFlight(body.task)) return false;
  return tasks_.claims().Take(now, body.task, holder,
                              4 * job_.times.UsualTimeout());
}

bool Walks::TakeRemote(const Pass& pass, const Task& task,
                       const Label& wanted) {
  if (tasks_.IsInFlight(task) || tasks_.remote().contains(task)) return false;
  const bool is_mine = labels_.places.IsMine(task);
  if (job_.options.claims && is_mine &&
      !TakeClaim(pass.now, {task, wanted}, job_.self)) {
    return false;
  }
  const bool granted = is_mine || !job_.options.claims;
  tasks_.remote()[task] = {.wanted = wanted,
                           .since = pass.now,
                           .asked = pass.now,
                           .granted = granted};
  AskForRemote(pass, task);
  return true;
}

void Walks::AskForRemote(const Pass& pass, const Task& task) {
  const auto remote = tasks_.remote().find(task);
  if (remote == tasks_.remote().end() || tasks_.IsInFlight(task)) return;
  remote->second.asked = pass.now;
  if (!remote->second.granted) {
    job_.messenger.SendTo(
        labels_.places.HomeOf(task), JobMessage::kClaim,
        EncodeClaim({.task = task, .wanted = remote->second.wanted}), pass.out);
    return;
  }
  demands_.FetchInputs(task, AgentId(), pass.out);
}

void Walks::HandleAnswer(const Pass& pass, const AnswerBody& body) {
  for (size_t i = 0; i < walks_.size();) {
    walks_[i].heard = pass.now;
    walks_[i].walk->OnAnswer(body.label, body.state, body.newest);
    if (AdvanceWalk(pass, *walks_[i].walk)) {
      ++i;
    } else {
      walks_.erase(walks_.begin() + i);
    }
  }
}

// Messages may be lost: lookups without an answer are repeated. Inputs may be
// dropped before they are fetched: then the task is given up, and another walk
// finds the missing one.
void Walks::SweepSearch(const Pass& pass) {
  // Homes answer between tasks, however long those take; values may be long.
  const absl::Time unanswered = pass.now - job_.limits.sweep_interval;
  const absl::Time overdue = pass.now - job_.times.DemandTimeout(pass.now);
  for (size_t i = walks_.size(); i-- > 0;) {
    ActiveWalk& active = walks_[i];
    if (active.heard > unanswered) continue;
    active.heard = pass.now;
    active.walk->AskAgain();
    if (AdvanceWalk(pass, *active.walk)) continue;
    walks_.erase(walks_.begin() + i);
  }
  std::vector<Task> waiting;
  std::vector<Task> running;
  for (const auto& [task, remote] : tasks_.remote()) {
    if (tasks_.IsInFlight(task)) {
      running.push_back(task);
    } else if (remote.asked <= (remote.granted ? overdue : unanswered)) {
      waiting.push_back(task);
    }
  }
  std::sort(running.begin(), running.end());
  std::sort(waiting.begin(), waiting.end());
  for (const Task& task : waiting) {
    const auto remote = tasks_.remote().find(task);
    if (remote == tasks_.remote().end()) continue;
    if (remote->second.since <= pass.now - 4 * job_.times.UsualTimeout()) {
      tasks_.DropTask(task);
    } else {
      AskForRemote(pass, task);
    }
  }
  if (!job_.options.claims) return;
  for (const Task& task : running) {
    if (labels_.places.IsMine(task)) {
      tasks_.claims().Take(pass.now, task, job_.self,
                           4 * job_.times.UsualTimeout());
    } else {
      job_.messenger.SendTo(labels_.places.HomeOf(task), JobMessage::kClaim,
                            EncodeClaim({task, tasks_.remote()[task].wanted}),
                            pass.out);
    }
  }
}

void Walks::HandleClaim(const Pass& pass, AgentId from, const ClaimBody& body) {
  // The walking agent has another view, and tries elsewhere.
  if (!labels_.places.IsMine(body.task)) return;
  const bool granted = TakeClaim(pass.now, body, from);
  job_.messenger.SendTo(from, JobMessage::kClaimed,
                        EncodeClaim({body.task, body.wanted, granted}),
                        pass.out);
}

void Walks::HandleClaimed(const Pass& pass, const ClaimBody& body) {
  if (!body.granted) {
    if (!tasks_.IsInFlight(body.task)) tasks_.DropTask(body.task);
    return;
  }
  const auto remote = tasks_.remote().find(body.task);
  if (remote == tasks_.remote().end()) return;
  remote->second.granted = true;
  AskForRemote(pass, body.task);
}

}  // namespace dogged

// Idle agents run tasks of others (stealing.h). The home names a task and sends
// what it has of its inputs; the thief demands the others, runs the task, and
// publishes what it made to the home.
#include <algorithm>
#include <utility>

#include "absl/container/btree_map.h"
#include "runtime/agent/job_run.h"

namespace dogged {
namespace {

// What bytes take that have to travel, in time: 100 MB/s.
constexpr absl::Duration kTimeOfByte = absl::Nanoseconds(10);

// Who has had nothing to do for so long asks for a task whatever the processors
// do.
constexpr absl::Duration kBoredAfter = absl::Seconds(1);

// Workers of all members on the host of `agent`; 0 if it is no member.
int WorkersBeside(const Placement& placement, AgentId agent) {
  const auto& members = placement.members();
  const auto self =
      std::find_if(members.begin(), members.end(),
                   [&](const auto& m) { return m.agent == agent; });
  if (self == members.end()) return 0;
  int workers = 0;
  for (const PlacementMember& member : members) {
    if (member.host == self->host) workers += member.workers;
  }
  return workers;
}

}  // namespace

void JobRun::AskForTasks(absl::Time now, Outbox& out) {
  if (paused_ || !root_.is_demanded || kernels_ == nullptr ||
      handover_.IsAwaiting() || storage_.IsPressed()) {
    return;
  }
  const int64_t busy = parked_.size() + storage_.staged_count() +
                       std::max(executor_.unfinished_count(),
                                static_cast<int64_t>(search_.picked.size()));
  const int64_t idle = executor_.worker_count() - busy;
  if (idle <= 0 || !places_.placement().Contains(self_)) {
    stealing_.NoteBusy();
    return;
  }
  // Where others keep the processors busy, one task at a time gets its share of
  // them, and one that waits for something else needs none.
  const bool is_bored = stealing_.NoteIdle(now) >= kBoredAfter;
  const std::vector<PlacementMember>& members = places_.placement().members();
  for (int i = 0; i < 2 * Stealing::kAskedMax; ++i) {
    const AgentId victim = rng_.Pick(members).agent;
    if (victim == self_ ||
        !stealing_.MayAsk(victim, now, now - limits_.sweep_interval)) {
      continue;
    }
    const int64_t room = std::max<int64_t>(
        is_bored ? 1 : 0,
        std::min<int64_t>(idle, executor_.RunnableWorkers(WorkersBeside(
                                    places_.placement(), self_))));
    if (room == 0) return;
    mail_.SendTo(victim, JobMessage::kSteal, EncodeSteal({room}), out);
  }
}

// Of inputs that the thief neither has nor could be lent: they are to reach it
// sooner than the task would end here.
int64_t JobRun::BytesToMove(const Activation& record, AgentId thief) const {
  const bool is_near = lending_ != nullptr && lending_->MayLend(thief);
  int64_t bytes = 0;
  relations_.ForEachRequired(record.task, [&](int use, const Label& label) {
    const Value& input = record.inputs[static_cast<size_t>(use)];
    const AgentId home = places_.HomeOf(label);
    const bool has_owner_near = is_near && (home != self_ || !input.IsView());
    if (home != thief && !has_owner_near && !input.IsNone()) {
      bytes += input.bytes();
    }
  });
  return bytes;
}

bool JobRun::MayGive(absl::Time now) const {
  return !paused_ && kernels_ != nullptr &&
         times_.AtLeast(now) >= limits_.given_task_min;
}

void JobRun::GiveTasks(absl::Time now, Outbox& out) {
  if (!MayGive(now)) {
    const bool may_be_long = !paused_ && times_.HasUnknown();
    if (may_be_long && stealing_.RoomCount(now) > 0) {
      out.WakeAt(now + limits_.given_task_min);
    }
    return;
  }
  while (!parked_.empty()) {
    bool has_given = false;
    for (const AgentId thief : stealing_.Thieves(now)) {
      if (thief == self_ || !places_.placement().Contains(thief)) continue;
      auto record = parked_.TakeLast([&](const Activation& parked) {
        return !IsHeld(parked.task) && places_.IsMine(parked.task) &&
               !IsWhollyDone(parked.task) &&
               BytesToMove(parked, thief) * kTimeOfByte < times_.AtLeast(now);
      });
      if (record == nullptr) continue;
      has_given = true;
      // It takes no notice of inputs that come before it knows what for.
      mail_.SendTo(
          thief, JobMessage::kGiven,
          EncodeClaim({.task = record->task,
                       .wanted = relations_.FirstCreated(record->task)}),
          out);
      absl::btree_set<Label> own;
      relations_.ForEachRequired(record->task, [&](int, const Label& label) {
        const Entry* entry = shard_.Find(label);
        const bool is_own = entry != nullptr && entry->is_home;
        if (is_own && !entry->value.IsNone()) own.insert(label);
      });
      for (const Label& label : own) {
        SendValue({thief}, label, out, Sending::kCopy);
      }
      stealing_.TakeRoom(thief);
      stealing_.Give(thief, now + limits_.gift_silence_max, std::move(record));
    }
    if (!has_given) return;
  }
}

void JobRun::HandleGift(absl::Time now, AgentId from, const ClaimBody& body,
                        Outbox& out) {
  const Task& task = body.task;
  stealing_.NoteAnswer(from);
  if (!forward_ || paused_ || places_.HomeOf(task) != from ||
      root_.rounds.IsAhead(task) || in_flight_.contains(task) ||
      search_.picked.contains(task)) {
    return;
  }
  search_.picked[task] = {.wanted = body.wanted,
                          .since = now,
                          .asked = now,
                          .granted = true,
                          .giver = from};
  FetchInputs(task, /*coming_from=*/from, out);
}

// `from` says that it has `label`. Who was silent for too long does not know
// that its task was run elsewhere meanwhile.
void JobRun::CountIfLate(const Label& label, AgentId from) {
  const std::optional<Task> producer = relations_.ProducerOf(label);
  if (producer.has_value() && stealing_.NoteLate(*producer, from) &&
      IsDone(*producer)) {
    ++stats_.tasks_duplicated;
  }
}

// A thief repeats that it has the task, and demands what was lost on the way.
// Gifts whose inputs don't come are given up, and that of which nothing is
// heard runs at home.
void JobRun::SweepStealing(absl::Time now, Outbox& out) {
  std::vector<Task> missing;
  absl::btree_map<Task, SearchState::Picked> gifts;
  for (const auto& [task, picked] : search_.picked) {
    gifts[task] = picked;
    if (picked.asked <= now - times_.Patience(now) &&
        !in_flight_.contains(task)) {
      missing.push_back(task);
    }
  }
  for (const auto& [task, gift] : gifts) {
    mail_.SendTo(gift.giver, JobMessage::kClaim,
                 EncodeClaim({.task = task, .wanted = gift.wanted}), out);
  }
  std::sort(missing.begin(), missing.end());
  for (const Task& task : missing) {
    SearchState::Picked& picked = search_.picked.find(task)->second;
    if (picked.since <= now - 2 * times_.LongPatience()) {
      DropTask(task);
    } else {
      picked.asked = now;
      FetchInputs(task, AgentId(), out);
    }
  }
  // A thief that leaves has run what it had, and hands that over.
  for (auto& record : stealing_.TakeBack(now, [this](AgentId thief) {
         return !places_.placement().Contains(thief) &&
                !handover_.IsAwaiting(thief);
       })) {
    parked_.Put(std::move(record));
  }
}

}  // namespace dogged

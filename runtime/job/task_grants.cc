#include "runtime/job/task_grants.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "runtime/graph/task_bytes.h"

namespace dogged {
namespace {

// An agent that has been idle for so long asks for a task, however busy the
// processors are.
constexpr absl::Duration kBoredAfter = absl::Seconds(1);

// Empty if `agent` is no member.
absl::string_view HostOf(const Placement& placement, AgentId agent) {
  for (const PlacementMember& member : placement.members()) {
    if (member.agent == agent) return member.host;
  }
  return "";
}

// Workers of all members on the host of `agent`; 0 if it is no member.
int WorkersBeside(const Placement& placement, AgentId agent) {
  if (!placement.Contains(agent)) return 0;
  const absl::string_view host = HostOf(placement, agent);
  int workers = 0;
  for (const PlacementMember& member : placement.members()) {
    if (member.host == host) workers += member.workers;
  }
  return workers;
}

}  // namespace

void TaskGrants::AskForTasks(const Pass& pass) {
  if (tasks_.IsPaused() || !job_.goal.is_demanded ||
      tasks_.kernels() == nullptr || labels_.handover.IsAwaiting() ||
      storage_.IsPressed()) {
    return;
  }
  const int64_t busy =
      tasks_.ready().size() + storage_.loading_count() +
      std::max(job_.executor.unfinished_count(), std::ssize(tasks_.remote()));
  const int64_t idle = job_.executor.worker_count() - busy;
  if (idle <= 0 || !labels_.places.placement().Contains(job_.self)) {
    tasks_.stealing().NoteBusy();
    return;
  }
  // Where others keep the processors busy, one task at a time gets its share of
  // them, and one that waits for something else needs none.
  const absl::Duration idle_for = tasks_.stealing().NoteIdle(pass.now);
  const bool is_bored = idle_for >= kBoredAfter;
  // A task of another host brings its bytes: not for a moment between two of
  // this agent's own, nor for a share of processors that others keep busy.
  const absl::Duration idle_min = std::min(job_.times.usual(), kBoredAfter);
  const bool may_ask_far = idle_for >= idle_min;
  if (!may_ask_far) pass.out.WakeAt(pass.now + idle_min - idle_for);
  const Placement& placement = labels_.places.placement();
  const absl::string_view host = HostOf(placement, job_.self);
  const bool is_crowded =
      WorkersBeside(placement, job_.self) > job_.executor.processor_count();
  for (int i = 0; i < 2 * Stealing::kAskedMax; ++i) {
    const PlacementMember& member = job_.rng.Pick(placement.members());
    const AgentId victim = member.agent;
    const bool is_far = member.host != host;
    if (victim == job_.self || (!may_ask_far && is_far) ||
        !tasks_.stealing().MayAsk(victim, pass.now,
                                  pass.now - job_.limits.sweep_interval)) {
      continue;
    }
    const int64_t runnable =
        is_far || is_crowded ? job_.executor.RunnableWorkers() : idle;
    const int64_t room =
        std::max<int64_t>(is_bored ? 1 : 0, std::min(idle, runnable));
    if (room == 0) return;
    job_.messenger.SendTo(victim, JobMessage::kSteal, EncodeSteal({room}),
                          pass.out);
  }
}

// Time for which the thief would wait for the inputs that it neither has nor
// could be lent, and this home for the outputs.
absl::Duration TaskGrants::TimeToMove(const Activation& record,
                                      AgentId thief) const {
  const bool is_near = job_.lending != nullptr && job_.lending->MayLend(thief);
  const TaskBytes foretold(job_.relations, *tasks_.kernels());
  int64_t bytes = is_near ? 0 : foretold.OutputsOf(record.task);
  job_.relations.ForEachRequired(record.task, [&](int use, const Label& label) {
    const Value& input = record.inputs[use];
    const AgentId home = labels_.places.HomeOf(label);
    const bool has_owner_near =
        is_near && (home != job_.self || !input.IsView());
    if (home != thief && !has_owner_near && !input.IsNone()) {
      bytes += input.bytes();
    }
  });
  return bytes == 0 ? absl::ZeroDuration() : sender_.TimeToSend(thief, bytes);
}

// Time until a worker here has begun the last of the ready tasks: those that
// run are through with half of theirs.
absl::Duration TaskGrants::TimeToWait(absl::Time now) const {
  const int64_t workers = job_.executor.worker_count();
  const int64_t queued =
      std::max<int64_t>(0, job_.executor.unfinished_count() - workers);
  const int64_t before = queued + tasks_.ready().size() - 1;
  return job_.times.AtLeast(now) * (static_cast<double>(before) + 0.5) /
         static_cast<double>(workers);
}

bool TaskGrants::MayGrant(absl::Time now) const {
  return !tasks_.IsPaused() && tasks_.kernels() != nullptr &&
         job_.times.AtLeast(now) >= job_.limits.granted_task_min;
}

void TaskGrants::GrantTasks(const Pass& pass) {
  if (!MayGrant(pass.now)) {
    const bool may_be_long = !tasks_.IsPaused() && job_.times.HasUnknown();
    if (may_be_long && tasks_.stealing().RoomCount(pass.now) > 0) {
      pass.out.WakeAt(pass.now + job_.limits.granted_task_min);
    }
    return;
  }
  while (!tasks_.ready().empty()) {
    bool has_given = false;
    for (const AgentId thief : tasks_.stealing().Thieves(pass.now)) {
      if (thief == job_.self || !labels_.places.placement().Contains(thief))
        continue;
      auto record = tasks_.ready().TakeLast([&](const Activation& ready) {
        return !tasks_.IsHeld(ready.task) &&
               labels_.places.IsMine(ready.task) &&
               !tasks_.IsWhollyDone(ready.task) &&
               TimeToMove(ready, thief) < TimeToWait(pass.now);
      });
      if (record == nullptr) continue;
      has_given = true;
      // The thief ignores inputs that come before it knows the task.
      job_.messenger.SendTo(
          thief, JobMessage::kGranted,
          EncodeClaim({.task = record->task,
                       .wanted = job_.relations.FirstCreated(record->task)}),
          pass.out);
      std::set<Label> own;
      job_.relations.ForEachRequired(
          record->task, [&](int, const Label& label) {
            const LabelEntry* entry = labels_.shard.FindBound(label);
            if (entry != nullptr && entry->is_home) own.insert(label);
          });
      for (const Label& label : own) {
        sender_.SendValue({thief}, label, pass.out, Sending::kCopy);
      }
      tasks_.stealing().TakeRoom(thief);
      tasks_.stealing().Grant(thief, pass.now + job_.limits.grant_silence_max,
                              std::move(record));
    }
    if (!has_given) return;
  }
}

void TaskGrants::HandleGrant(const Pass& pass, AgentId from,
                             const ClaimBody& body) {
  const Task& task = body.task;
  tasks_.stealing().NoteAnswer(from);
  if (!job_.forward || tasks_.IsPaused() ||
      labels_.places.HomeOf(task) != from || job_.goal.rounds.IsAhead(task) ||
      tasks_.IsInFlight(task) || tasks_.remote().contains(task)) {
    return;
  }
  tasks_.remote()[task] = {.wanted = body.wanted,
                           .since = pass.now,
                           .asked = pass.now,
                           .granted = true,
                           .granter = from};
  demands_.FetchInputs(task, /*coming_from=*/from, pass.out);
}

// A thief repeats its claim of a granted task, and demands inputs lost on the
// way. Granted tasks whose inputs don't come are dropped, and run at home as
// their claim ends.
void TaskGrants::SweepStealing(const Pass& pass) {
  std::vector<Task> missing;
  std::map<Task, RemoteTask> grants;
  for (const auto& [task, remote] : tasks_.remote()) {
    grants[task] = remote;
    if (remote.asked <= pass.now - job_.times.DemandTimeout(pass.now) &&
        !tasks_.IsInFlight(task)) {
      missing.push_back(task);
    }
  }
  for (const auto& [task, grant] : grants) {
    job_.messenger.SendTo(grant.granter, JobMessage::kClaim,
                          EncodeClaim({.task = task, .wanted = grant.wanted}),
                          pass.out);
  }
  std::sort(missing.begin(), missing.end());
  for (const Task& task : missing) {
    RemoteTask& remote = tasks_.remote().find(task)->second;
    if (remote.since <= pass.now - 2 * job_.times.UsualTimeout()) {
      tasks_.DropTask(task);
    } else {
      remote.asked = pass.now;
      demands_.FetchInputs(task, AgentId(), pass.out);
    }
  }
  // A thief that leaves has run its tasks, and hands their outputs over.
  for (auto& record :
       tasks_.stealing().TakeBack(pass.now, [this](AgentId thief) {
         return !labels_.places.placement().Contains(thief) &&
                !labels_.handover.IsAwaiting(thief);
       })) {
    tasks_.ready().Put(std::move(record));
  }
}

int64_t TaskGrants::RoomCount(absl::Time now) {
  return job_.forward && MayGrant(now) ? tasks_.stealing().RoomCount(now) : 0;
}

void TaskGrants::HandleSteal(absl::Time now, AgentId from,
                             const StealBody& body) {
  if (!labels_.places.placement().Contains(from)) return;
  tasks_.stealing().NoteRoom(from, body.count,
                             now + 2 * job_.limits.sweep_interval);
}

void TaskGrants::HandleClaim(absl::Time now, AgentId from,
                             const ClaimBody& body) {
  // The thief has another view, and tries elsewhere.
  if (!labels_.places.IsMine(body.task)) return;
  const absl::Time limit = now + job_.limits.grant_silence_max;
  if (tasks_.stealing().Extend(body.task, from, limit)) return;
  // The task's home was elsewhere when the thief began to run it.
  if (auto record = tasks_.ready().Remove(body.task); record != nullptr) {
    tasks_.stealing().Grant(from, limit, std::move(record));
  } else if (!tasks_.IsInFlight(body.task) && !tasks_.IsDone(body.task)) {
    tasks_.stealing().Expect(body.task, from, limit);
  }
}

}  // namespace dogged

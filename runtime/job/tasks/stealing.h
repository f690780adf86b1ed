// Stealing: tasks that are ready at their home, where other tasks are more
// urgent, and that an idle agent runs instead. The idle agent tells that it has
// room; the home remembers it, and grants tasks as soon as it has some to
// spare. All messages are hints: a task whose outputs do not come in time runs
// at home.
//
// A data structure: no messages, no clock. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_TASKS_STEALING_H_
#define DOGGED_RUNTIME_JOB_TASKS_STEALING_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "runtime/base/ids.h"
#include "runtime/exec/activation_table.h"

namespace dogged {

class Stealing {
 public:
  // --- at the home
  // `agent` has room for `count` tasks, until `end` as far as is known.
  void NoteRoom(AgentId agent, int64_t count, absl::Time end);
  // Agents that have room, and the number of tasks that they have room for.
  std::vector<AgentId> Thieves(absl::Time now);
  int64_t RoomCount(absl::Time now);
  // `agent` gets one task less, from now on.
  void TakeRoom(AgentId agent);
  // `thief` was told of this task; it comes back at `limit` unless extended.
  void Grant(AgentId thief, absl::Time limit,
             std::unique_ptr<Activation> record);
  // `thief` tells that it still has the task. False if the task was not granted
  // to it.
  bool Extend(const Task& task, AgentId thief, absl::Time limit);
  // `agent` runs this task, whose home is here only now, until `limit` as far
  // as is known.
  void Expect(const Task& task, AgentId agent, absl::Time limit);
  // `record` is ready. It counts as granted to the agent that is known to run
  // it, and null is returned; if there is none, `record` is returned.
  std::unique_ptr<Activation> GrantIfExpected(
      std::unique_ptr<Activation> record);
  // Null if the task was not granted, or is back.
  std::unique_ptr<Activation> Remove(const Task& task);
  // Takes back overdue tasks, and tasks of agents that are `gone`. An overdue
  // thief may still run its task. Tasks that these agents were expected to run
  // are forgotten. A long time without a call does not count: this agent did
  // not listen.
  std::vector<std::unique_ptr<Activation>> TakeBack(
      absl::Time now, absl::FunctionRef<bool(AgentId)> gone);
  // `agent` was overdue with this task, and has run it now; not told before.
  bool NoteLate(const Task& task, AgentId agent);
  std::vector<Task> Granted() const;
  bool IsGranted(const Task& task) const { return granted_.contains(task); }
  int64_t granted_count() const { return std::ssize(granted_); }

  // --- at the thief
  // Agents asked at a time, however many there are.
  static constexpr int kAskedMax = 8;
  // True if `victim` is to hear now that there is room here: it has not heard
  // of it after `before`, nor have kAskedMax others.
  bool MayAsk(AgentId victim, absl::Time now, absl::Time before);
  // `victim` has granted tasks, so it may be asked again at once.
  void NoteAnswer(AgentId victim) { asked_.erase(victim); }
  // Whether a worker has nothing to do; for how long that has been so.
  void NoteBusy() { idle_since_ = absl::InfiniteFuture(); }
  absl::Duration NoteIdle(absl::Time now) {
    idle_since_ = std::min(idle_since_, now);
    return now - idle_since_;
  }

 private:
  struct Room {
    int64_t count = 0;
    absl::Time end;
  };
  struct Theft {
    AgentId thief;
    absl::Time limit;
    std::unique_ptr<Activation> record;
  };
  struct Expected {
    AgentId agent;
    absl::Time limit;
  };
  void ForgetOldRooms(absl::Time now);
  // Late tasks that are remembered, at most.
  static constexpr size_t kLateMax = 1024;

  std::map<AgentId, Room> rooms_;
  std::map<Task, Theft> granted_;
  std::map<Task, Expected> expected_;
  std::map<Task, AgentId> late_;  // taken back from a live thief
  std::map<AgentId, absl::Time> asked_;
  absl::Time idle_since_ = absl::InfiniteFuture();
  absl::Time looked_ = absl::InfiniteFuture();  // for overdue tasks
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_TASKS_STEALING_H_

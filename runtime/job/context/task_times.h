// TaskTimes: the time that a job's tasks take at this agent, as far as it is
// known, and the demand timeouts that follow from it. Tasks of a class of which
// none has ended here may take microseconds or hours: while one of them runs,
// none is queued behind it, and waiting tasks may be granted once it has run
// for long.
//
// A data structure: time is passed in. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_CONTEXT_TASK_TIMES_H_
#define DOGGED_RUNTIME_JOB_CONTEXT_TASK_TIMES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "runtime/job/context/job_options.h"

namespace dogged {

class TaskTimes {
 public:
  TaskTimes(size_t class_count, const JobLimits& limits)
      : demand_timeout_min_(limits.demand_timeout_min),
        after_failure_timeout_(
            std::max(limits.demand_timeout_min, limits.after_failure_timeout)),
        classes_(class_count) {}

  // A task of `task_class` is the executor's.
  void NoteSubmitted(int task_class) {
    Class& of = classes_[task_class];
    if (!of.is_known) ++unknown_;
    ++of.running;
  }
  // A task has ended after `elapsed`.
  void NoteEnded(int task_class, absl::Duration elapsed) {
    Class& of = classes_[task_class];
    if (!of.is_known) unknown_ -= of.running;
    of.is_known = true;
    --of.running;
    usual_ += (elapsed - usual_) / std::min<int64_t>(++ended_, 16);
    slowest_ = std::max(slowest_, elapsed);
    if (unknown_ == 0) unknown_since_ = absl::InfiniteFuture();
  }
  // A task was interrupted, or was of an earlier run of the job.
  void NoteGone(int task_class) {
    Class& of = classes_[task_class];
    if (of.running == 0) return;
    --of.running;
    if (!of.is_known && --unknown_ == 0) {
      unknown_since_ = absl::InfiniteFuture();
    }
  }
  void NotePass(absl::Time now) {
    if (unknown_ > 0) unknown_since_ = std::min(unknown_since_, now);
  }

  // A moving mean; 1 ms before any has ended.
  absl::Duration usual() const { return usual_; }
  // The longest time that members take to answer.
  void NoteRoundTrip(absl::Duration time) { round_trip_ = time; }
  // An agent has died, and its labels may be missed.
  void NoteLoss(absl::Time now) {
    after_failure_until_ = now + 8 * UsualTimeout();
  }
  absl::Time after_failure_until() const { return after_failure_until_; }
  // Time that a task waits for missing inputs before it demands them. Usually
  // these are still to be made; after a death lost ones have to be found soon,
  // however long tasks take.
  absl::Duration DemandTimeout(absl::Time now) const {
    const absl::Duration usual = UsualTimeout();
    return now < after_failure_until_
               ? std::min(usual, std::max(after_failure_timeout_,
                                          kRoundTrips * round_trip_))
               : usual;
  }
  // Time for which a granted or claimed task belongs to its agent: the inputs
  // may take as long to arrive as a task takes.
  absl::Duration UsualTimeout() const {
    return std::max(demand_timeout_min_, 8 * slowest_) +
           kRoundTrips * round_trip_;
  }
  bool HasUnknown() const { return unknown_ > 0; }
  // Time that a waiting task would wait, or take, at least; 0 while that is
  // unknown.
  absl::Duration AtLeast(absl::Time now) const {
    return std::max(ended_ > 0 ? usual_ : absl::ZeroDuration(),
                    now - std::min(unknown_since_, now));
  }

 private:
  struct Class {
    bool is_known = false;  // one has ended here
    int64_t running = 0;
  };

  // From a bound input to its task: the task's home hears of the label, asks
  // for it, and gets it.
  static constexpr int kRoundTrips = 3;

  const absl::Duration demand_timeout_min_;
  const absl::Duration after_failure_timeout_;
  absl::Time after_failure_until_ = absl::InfinitePast();
  std::vector<Class> classes_;
  int64_t unknown_ = 0;  // tasks with the executor
  // There have been some ever since, as of the passes.
  absl::Time unknown_since_ = absl::InfiniteFuture();
  int64_t ended_ = 0;
  absl::Duration usual_ = absl::Milliseconds(1);
  absl::Duration slowest_;
  absl::Duration round_trip_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_CONTEXT_TASK_TIMES_H_

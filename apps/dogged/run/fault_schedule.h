// FaultSchedule: the kills and joins that a run is asked for, which of them are
// due, and, in the end, which did not happen.
//
// A data structure. Used by one thread.
#ifndef DOGGED_APPS_DOGGED_RUN_FAULT_SCHEDULE_H_
#define DOGGED_APPS_DOGGED_RUN_FAULT_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "apps/dogged/run/run_options.h"

namespace dogged {

// How far a run has come.
struct RunMoment {
  int64_t tasks_done = 0;
  int64_t tasks_needed = 0;  // of a loop, for its rounds so far
  absl::Duration elapsed;
};

class FaultSchedule {
 public:
  // `options` outlive this.
  explicit FaultSchedule(const RunOptions& options) : options_(options) {}

  // True if a fault or join is still to come in the run.
  bool IsWaiting() const;
  // True if a --kill-at is due; it stays so until NoteKill().
  bool IsKillDue(const RunMoment& now) const;
  void NoteKill() { ++kills_; }
  // True once in each period of --kill-every.
  bool TakePeriodicKill(const RunMoment& now);
  void NotePeriodicKill() { ++periodic_kills_; }
  // A --join-at that is due, as it was written, and once.
  std::optional<std::string> TakeJoin(const RunMoment& now);

  // A sentence for each fault or join that did not happen, and why: because
  // there was `nobody_to_kill`, or because the run was over.
  std::vector<std::string> Omissions(bool nobody_to_kill) const;

 private:
  const RunOptions& options_;
  size_t kills_ = 0;
  size_t joins_ = 0;
  int periods_ = 0;
  int periodic_kills_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_FAULT_SCHEDULE_H_

// StallDetector: how long nothing has moved at one agent of a job, and how long
// that usually lasts there. Where tasks form a chain, each agent stands still
// while the chain is at others; only what lasts longer than that says that
// something was lost. A data structure: time is passed in. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_CONTEXT_STALL_DETECTOR_H_
#define DOGGED_RUNTIME_JOB_CONTEXT_STALL_DETECTOR_H_

#include <algorithm>

#include "absl/time/time.h"

namespace dogged {

class StallDetector {
 public:
  // Something came or was made.
  void NoteProgress(absl::Time now) {
    if (progress_ != absl::InfinitePast()) {
      usual_ = std::max(usual_, now - progress_);
    }
    progress_ = since_ = now;
  }
  // It was acted upon: it begins anew, but what comes next is no progress yet.
  void BeginAnew(absl::Time now) {
    since_ = now;
    if (progress_ == absl::InfinitePast()) progress_ = now;
  }
  // So often that what was usual is half forgotten after 45 calls.
  void Fade() { usual_ -= usual_ / 64; }

  absl::Time last_progress() const { return progress_; }
  bool has_begun() const { return since_ != absl::InfinitePast(); }
  // Longer than is usual, than `min` in any case, and `max` is enough.
  bool IsStalled(absl::Time now, absl::Duration min, absl::Duration max) const {
    return now - since_ > std::max(min, std::min(2 * usual_, max));
  }

 private:
  absl::Time progress_ = absl::InfinitePast();
  absl::Time since_ = absl::InfinitePast();
  absl::Duration usual_;  // the longest that ended in progress, fading
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_CONTEXT_STALL_DETECTOR_H_

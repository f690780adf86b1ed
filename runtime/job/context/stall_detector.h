// StallDetector: the time since a job last progressed at an agent, and the
// usual length of such pauses there. Where tasks form a chain, each agent
// stands still while the chain is at other agents; only a longer pause tells
// that a message or label was lost. A data structure: time is passed in. Used
// by one thread.
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
  // The stall was acted upon: it begins anew, but that was no progress yet.
  void BeginAnew(absl::Time now) {
    since_ = now;
    if (progress_ == absl::InfinitePast()) progress_ = now;
  }
  // Shortens the usual pause; half of it is forgotten after 45 calls.
  void Fade() { usual_ -= usual_ / 64; }

  absl::Time last_progress() const { return progress_; }
  bool has_begun() const { return since_ != absl::InfinitePast(); }
  // The pause is longer than `min`, and than twice the usual one, or `max` if
  // that is less.
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

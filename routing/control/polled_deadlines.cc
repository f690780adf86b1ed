#include "routing/control/polled_deadlines.h"

#include <algorithm>

namespace dogged {

std::vector<uint64_t> PolledDeadlines::TakeDue(absl::Time now) {
  counted_ += std::clamp(now - looked_, absl::ZeroDuration(), kStepMax);
  looked_ = now;
  std::vector<uint64_t> out;
  for (auto it = due_.begin(); it != due_.end();) {
    if (it->second > counted_) {
      ++it;
      continue;
    }
    out.push_back(it->first);
    it = due_.erase(it);
  }
  return out;
}

absl::Duration PolledPatience::Left(absl::Time now) {
  left_ -= std::clamp(now - looked_, absl::ZeroDuration(), kStepMax);
  looked_ = now;
  return left_;
}

}  // namespace dogged

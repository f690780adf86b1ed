#include "runtime/job/tasks/claims.h"

namespace dogged {

bool Claims::Take(absl::Time now, const Task& task, AgentId holder,
                  absl::Duration patience) {
  const auto known = claims_.find(task);
  if (known == claims_.end()) {
    if (size() < count_max_) {
      claims_.emplace(task, Claim{holder, now, patience});
    }
    return true;
  }
  Claim& claim = known->second;
  if (claim.holder != holder) {
    if (now < claim.repeated + claim.patience) return false;
    claim.holder = holder;
    claim.patience *= 2;
  }
  claim.repeated = now;
  return true;
}

bool Claims::IsClaimed(absl::Time now, const Task& task) const {
  const auto known = claims_.find(task);
  return known != claims_.end() &&
         now < known->second.repeated + known->second.patience;
}

void Claims::Forget(absl::FunctionRef<bool(const Task&, AgentId)> gone) {
  absl::erase_if(claims_, [&gone](const auto& known) {
    return gone(known.first, known.second.holder);
  });
}

}  // namespace dogged

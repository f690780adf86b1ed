#include "routing/membership/relays.h"

#include <cstdint>

#include "runtime/base/hash.h"

namespace dogged {

void Relays::Refresh(const View& view,
                     absl::FunctionRef<bool(AgentId at, AgentId from)> hears) {
  relays_.clear();
  for (const Member& member : view.members()) {
    if (member.id == self_ || hears(member.id, self_)) continue;
    AgentId& best = relays_[member.id];
    uint64_t best_rank = 0;
    for (const Member& other : view.members()) {
      if (other.id == self_ || other.id == member.id ||
          !hears(member.id, other.id) || !hears(other.id, self_)) {
        continue;
      }
      const uint64_t rank =
          Mix64(Mix64(self_.value(), member.id.value()), other.id.value());
      if (best.IsNone() || rank > best_rank) {
        best = other.id;
        best_rank = rank;
      }
    }
  }
}

AgentId Relays::RelayTo(AgentId to) const {
  if (relays_.empty()) return AgentId();
  const auto it = relays_.find(to);
  return it == relays_.end() ? AgentId() : it->second;
}

}  // namespace dogged

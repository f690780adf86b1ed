// Relays: by way of which agent messages go to those that do not hear this one
// directly, because a link is down.
//
// A data structure: no messages, no clock. Used by one thread.
#ifndef DOGGED_ROUTING_MEMBERSHIP_RELAYS_H_
#define DOGGED_ROUTING_MEMBERSHIP_RELAYS_H_

#include <map>

#include "absl/functional/function_ref.h"
#include "routing/membership/view.h"
#include "runtime/base/ids.h"

namespace dogged {

class Relays {
 public:
  explicit Relays(AgentId self) : self_(self) {}

  // Chooses anew among the members of `view`. `hears` says whether messages
  // come directly to an agent from another one.
  void Refresh(const View& view,
               absl::FunctionRef<bool(AgentId at, AgentId from)> hears);
  // The first in rank of the agents that reach both; none: messages to `to` go
  // directly, or not at all.
  AgentId RelayTo(AgentId to) const;

 private:
  const AgentId self_;
  std::map<AgentId, AgentId> relays_;  // by the agent that is unheard
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMBERSHIP_RELAYS_H_

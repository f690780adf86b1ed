// Outbox: where protocol machines put messages to send, and the time of their
// next call. Machines never touch a transport; the agent empties the outbox
// through a Packer (packing.h) at the end of each pass. Pass: one such pass, as
// machines see it.
#ifndef DOGGED_ROUTING_TRANSPORT_OUTBOX_H_
#define DOGGED_ROUTING_TRANSPORT_OUTBOX_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "routing/transport/envelope.h"
#include "runtime/base/ids.h"
#include "runtime/base/split_bytes.h"

namespace dogged {

struct Outbox {
  struct OutgoingMessage {
    AgentId to;
    uint8_t kind = 0;
    JobId job;
    SplitBytes body;
  };

  // Appends a message; messages to the same agent stay in order. `to` may be
  // the sender itself: such a message is delivered without a transport.
  void Send(AgentId to, uint8_t kind, JobId job, SplitBytes body) {
    messages.push_back({to, kind, job, std::move(body)});
  }
  void Send(AgentId to, RoutingKind kind, JobId job, SplitBytes body) {
    Send(to, static_cast<uint8_t>(kind), job, std::move(body));
  }

  // Tells that a message to `to` follows within this pass: if that agent
  // sleeps, it wakes up meanwhile.
  void WakeEarly(AgentId to) const {
    if (wake_early) wake_early(to);
  }

  // Asks that the writer's Tick be called at `time` at the latest.
  void WakeAt(absl::Time time) { wake = std::min(wake, time); }

  std::function<void(AgentId)> wake_early;  // may be null
  std::vector<OutgoingMessage> messages;
  absl::Time wake = absl::InfiniteFuture();
};

// The first parameter of all that happens at a time and may send. A function
// that takes only one of the two does not depend on the other.
struct Pass {
  absl::Time now;
  Outbox& out;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRANSPORT_OUTBOX_H_

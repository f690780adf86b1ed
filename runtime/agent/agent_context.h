// AgentContext: what all components of one agent share: how it was started, the
// ports to workers and memory, the protocol machines that carry its messages,
// and how far its departure has come. Plain data; each component holds a
// reference to it and keeps its own state to itself.
#ifndef DOGGED_RUNTIME_AGENT_AGENT_CONTEXT_H_
#define DOGGED_RUNTIME_AGENT_AGENT_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "kvstore/lending/lending.h"
#include "kvstore/storage/value_store.h"
#include "routing/membership/membership.h"
#include "routing/multicast/multicast.h"
#include "routing/transport/outbox.h"
#include "runtime/agent/agent_options.h"
#include "runtime/agent/job_tools.h"
#include "runtime/base/random.h"
#include "runtime/exec/background.h"
#include "runtime/exec/executor.h"

namespace dogged {

// In this order; see Departure.
enum class AgentPhase {
  kTakesPart,
  kDrains,  // told to leave: no task starts
  kLeaves,  // has told the others, and hands over
  kGone,
};

struct AgentContext {
  AgentContext(AgentOptions given, Executor& workers, Background& beside,
               JobTools job_tools);
  AgentContext(const AgentContext&) = delete;
  AgentContext& operator=(const AgentContext&) = delete;

  AgentId id() const { return options.self.id; }
  std::vector<AgentId> Others() const;  // of the view
  bool IsDraining() const { return phase >= AgentPhase::kDrains; }
  bool IsLeaving() const { return phase >= AgentPhase::kLeaves; }
  // Counts a message that was refused.
  void Count(const absl::Status& received) {
    if (!received.ok()) ++refused_count;
  }

  // --- constant after construction
  const AgentOptions options;
  const std::shared_ptr<const JobTools> tools;

  // --- ports
  Executor& executor;
  Background& background;
  const std::unique_ptr<ValueStore> values;  // null without an engine
  const std::unique_ptr<Lending> lending;    // null without shared memory

  // --- written by any component
  Rng rng;
  Membership membership;
  Multicast multicast;
  Outbox outbox;
  int64_t refused_count = 0;  // messages that made no sense

  // --- written by Departure alone
  AgentPhase phase = AgentPhase::kTakesPart;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_AGENT_CONTEXT_H_

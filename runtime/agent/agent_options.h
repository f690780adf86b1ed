// AgentOptions: options and ports of a new agent.
#ifndef DOGGED_RUNTIME_AGENT_AGENT_OPTIONS_H_
#define DOGGED_RUNTIME_AGENT_AGENT_OPTIONS_H_

#include <cstdint>
#include <functional>

#include "absl/time/time.h"
#include "kvstore/lending/lending.h"
#include "kvstore/storage/engine.h"
#include "routing/membership/membership.h"
#include "routing/membership/view.h"
#include "routing/memory/shared_memory.h"
#include "routing/multicast/multicast.h"
#include "runtime/base/limits.h"
#include "runtime/base/value.h"
#include "runtime/job/context/job_options.h"

namespace dogged {

struct AgentOptions {
  Member self;
  // Memory that this agent shares with agents of its host; outlives the agent.
  // Null: every value travels as bytes.
  SharedMemory* shared_memory = nullptr;
  LendingOptions lending;
  MulticastPlan plan = MulticastPlan::kAuto;
  Limits limits;
  JobLimits job_limits;
  MembershipOptions membership;
  uint64_t seed = 1;
  // Where values go that do not fit into memory; outlives the agent. Null: no
  // value is ever written.
  Engine* engine = nullptr;
  // Another incarnation of this process was there before: unknown agents may
  // still exist. So they may until NoteSettled() is called, if `membership`
  // looks for others.
  bool is_reborn = false;
  // The engine has a directory of this agent's own: values held are kept there
  // too, and offered when a job runs again.
  bool keeps_values = false;
  // An agent that is told to leave has gone by then.
  absl::Duration leave_within = absl::Seconds(10);
  // Bytes in memory that results of jobs may take which keep them for a time.
  // Beyond it the oldest go, and are made again for those who want them.
  int64_t kept_bytes_max = int64_t{1} << 30;
  // Bytes that the values of this agent take.
  std::function<int64_t()> live_bytes = Value::LiveBytes;
  // The wall clock, for times that outlive this process.
  std::function<absl::Time()> wall_time = [] { return absl::UnixEpoch(); };
  // Called after a job's values were freed.
  std::function<void()> on_freed = [] {};
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_AGENT_OPTIONS_H_

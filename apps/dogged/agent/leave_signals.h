// What tells an agent to leave: SIGTERM, SIGINT, SIGHUP and SIGUSR1, which
// schedulers and shells send before they kill, and the end of its --lifetime.
// SIGTERM or SIGINT a second later, or more, hurries it. And the alarm that
// ends an agent that does not leave.
#ifndef DOGGED_APPS_DOGGED_AGENT_LEAVE_SIGNALS_H_
#define DOGGED_APPS_DOGGED_AGENT_LEAVE_SIGNALS_H_

#include <csignal>

#include "absl/time/time.h"
#include "runtime/agent/loop/agent_loop.h"

namespace dogged {

// From now on; again after libraries that take signals over. SIGHUP stays
// ignored if it is at the first call, as nohup has it.
void CatchLeaveSignals();
// The agent is told to leave when `lifetime` is over; infinite: never. Once
// told, it ends by force if it is still there some seconds after
// `leave_within`.
void LimitLife(absl::Duration lifetime, absl::Duration leave_within);
// True once something has told it.
bool IsToldToLeave();
// Tells `server` when something does, also if that was before; null: nobody.
void TellOfLeaveSignals(AgentLoop* server);

// While it lives they wait: libraries that libfabric loads may take them over
// meanwhile, and end the process on them.
class LeaveSignalsHeld {
 public:
  LeaveSignalsHeld();
  ~LeaveSignalsHeld();
  LeaveSignalsHeld(const LeaveSignalsHeld&) = delete;
  LeaveSignalsHeld& operator=(const LeaveSignalsHeld&) = delete;

 private:
  sigset_t before_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_AGENT_LEAVE_SIGNALS_H_

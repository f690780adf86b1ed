// The signals that ask an agent to leave, SIGTERM and SIGINT, and the alarm
// that ends one which does not.
#ifndef DOGGED_APPS_DOGGED_AGENT_LEAVE_SIGNALS_H_
#define DOGGED_APPS_DOGGED_AGENT_LEAVE_SIGNALS_H_

#include <csignal>

#include "runtime/agent/loop/agent_loop.h"

namespace dogged {

// From now on; again after libraries that take signals over.
void CatchLeaveSignals();
// True once a signal to leave has come.
bool IsToldToLeave();
// Tells `server` when one comes, also if one came before; null: nobody.
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

#include "apps/dogged/agent/leave_signals.h"

#include <unistd.h>

#include <atomic>

#include "apps/dogged/process/errors.h"

namespace dogged {
namespace {

// Seconds in which an agent that is told to leave has gone: twice the time that
// a handover may take.
constexpr unsigned kLeaveSecondsMax = 20;

// All that signal handlers know.
struct SignalState {
  std::atomic<AgentLoop*> server{nullptr};  // told to leave, once there is one
  std::atomic<bool> leave{false};
};

SignalState& StateOfSignals() {
  static SignalState state;
  return state;
}

extern "C" void HandleLeaveSignal(int) {
  StateOfSignals().leave = true;
  if (AgentLoop* server = StateOfSignals().server.load()) server->Leave();
  alarm(kLeaveSecondsMax);
}

// The loop is stuck, or a thread that this process waits for as it ends.
extern "C" void HandleOverdueLeave(int) {
  EndWith(
      "error: told to leave 20 s ago, and something here does not return; ends "
      "without it\n",
      ExitCode::kFailed);
}

}  // namespace

void CatchLeaveSignals() {
  struct sigaction action = {};
  action.sa_handler = HandleLeaveSignal;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  action.sa_handler = HandleOverdueLeave;
  sigaction(SIGALRM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

bool IsToldToLeave() { return StateOfSignals().leave; }

void TellOfLeaveSignals(AgentLoop* server) {
  StateOfSignals().server = server;
  if (server != nullptr && IsToldToLeave()) server->Leave();
}

LeaveSignalsHeld::LeaveSignalsHeld() {
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGTERM);
  sigaddset(&held, SIGINT);
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

LeaveSignalsHeld::~LeaveSignalsHeld() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace dogged

#include "apps/dogged/agent/leave_signals.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ctime>

#include "apps/dogged/process/errors.h"

namespace dogged {
namespace {

constexpr int kLeaveSignals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
// An agent that has not left so long after it should have does not return.
constexpr int64_t kOverdueSeconds = 10;

// A signal that comes sooner than this after the first one is the same one,
// sent to the process and to its group.
constexpr int64_t kAgainMs = 1000;
// And an agent that has not left so long after it was told again.
constexpr unsigned kHurriedSecondsMax = 12;

// All that signal handlers know.
struct SignalState {
  std::atomic<AgentLoop*> server{nullptr};  // told to leave, once there is one
  std::atomic<const char*> why{nullptr};    // not null: told to leave
  std::atomic<unsigned> leave_seconds_max{20};
  std::atomic<int64_t> told_ms{0};      // when; see NowMs()
  std::atomic<bool> is_hurried{false};  // told again
  bool keeps_hangup = false;  // SIGHUP is ignored; written before there are any
  bool has_looked = false;    // likewise
};

SignalState& StateOfSignals() {
  static SignalState state;
  return state;
}

const char* WhyOf(int signal) {
  switch (signal) {
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGHUP:
      return "SIGHUP";
    case SIGUSR1:
      return "SIGUSR1";
    default:
      return "the end of its --lifetime";
  }
}

// The time of a clock that only goes on; fit for signal handlers.
int64_t NowMs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

extern "C" void HandleLeaveSignal(int number) {
  SignalState& state = StateOfSignals();
  const char* none = nullptr;
  // The first word counts: others don't put it off.
  if (state.why.compare_exchange_strong(none, WhyOf(number))) {
    state.told_ms = NowMs();
    if (AgentLoop* server = state.server.load()) server->Leave(state.why);
    alarm(state.leave_seconds_max);
    return;
  }
  const bool hurries = number == SIGTERM || number == SIGINT;
  if (!hurries || NowMs() - state.told_ms < kAgainMs) return;
  if (AgentLoop* server = state.server.load()) server->HurryLeave();
  if (!state.is_hurried.exchange(true)) {
    alarm(std::min(kHurriedSecondsMax, state.leave_seconds_max.load()));
  }
}

// Its lifetime is over. Or it was told to leave long ago, and the loop is
// stuck, or a thread that this process waits for as it ends.
extern "C" void HandleAlarm(int number) {
  if (StateOfSignals().why.load() == nullptr) return HandleLeaveSignal(number);
  EndWith(
      "error: told to leave long ago, and something here does not return; ends "
      "without it\n",
      ExitCode::kFailed);
}

unsigned WholeSeconds(absl::Duration duration) {
  // Some systems know no longer alarm.
  constexpr int64_t kMost = int64_t{100} * 365 * 24 * 3600 / 4;
  const int64_t seconds =
      absl::ToInt64Seconds(absl::Ceil(duration, absl::Seconds(1)));
  return static_cast<unsigned>(std::clamp<int64_t>(seconds, 1, kMost));
}

}  // namespace

void CatchLeaveSignals() {
  SignalState& state = StateOfSignals();
  if (!state.has_looked) {
    struct sigaction before = {};
    sigaction(SIGHUP, nullptr, &before);
    state.keeps_hangup = before.sa_handler == SIG_IGN;
    state.has_looked = true;
  }
  struct sigaction action = {};
  action.sa_handler = HandleLeaveSignal;
  for (const int signal : kLeaveSignals) {
    const bool is_kept = signal == SIGHUP && state.keeps_hangup;
    if (!is_kept) sigaction(signal, &action, nullptr);
  }
  action.sa_handler = HandleAlarm;
  sigaction(SIGALRM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

void LimitLife(absl::Duration lifetime, absl::Duration leave_within) {
  StateOfSignals().leave_seconds_max =
      WholeSeconds(leave_within + absl::Seconds(kOverdueSeconds));
  if (lifetime < absl::InfiniteDuration()) alarm(WholeSeconds(lifetime));
}

bool IsToldToLeave() { return StateOfSignals().why.load() != nullptr; }

void TellOfLeaveSignals(AgentLoop* server) {
  StateOfSignals().server = server;
  if (server != nullptr && IsToldToLeave()) {
    server->Leave(StateOfSignals().why);
    if (StateOfSignals().is_hurried) server->HurryLeave();
  }
}

LeaveSignalsHeld::LeaveSignalsHeld() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : kLeaveSignals) sigaddset(&held, signal);
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

LeaveSignalsHeld::~LeaveSignalsHeld() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace dogged

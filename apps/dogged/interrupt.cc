#include "apps/dogged/interrupt.h"

#include <signal.h>

#include <atomic>

#include "apps/dogged/errors.h"
#include "apps/dogged/options.h"

namespace dogged {
namespace {

// All that the handler knows.
struct State {
  std::atomic<const char*> words{""};
  std::atomic<bool> deferred{false};
  std::atomic<bool> interrupted{false};
  std::atomic<const KernelSource*> kernels{nullptr};
};

State& StateOfSignals() {
  static State state;
  return state;
}

extern "C" void HandleInterrupt(int) {
  State& state = StateOfSignals();
  const bool first = !state.interrupted.exchange(true);
  if (const KernelSource* kernels = state.kernels.load()) {
    kernels->Interrupt();
  }
  if (state.deferred && first) return;
  EndWith(state.deferred ? "interrupted twice\n" : state.words.load(),
          ExitCode::kInterrupted);
}

}  // namespace

void CatchInterrupts(const char* words) {
  StateOfSignals().words = words;
  struct sigaction action = {};
  action.sa_handler = HandleInterrupt;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    // Ignored by whoever started us, as nohup does: it stays so.
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

InterruptsDeferred::InterruptsDeferred(const KernelSource* kernels) {
  StateOfSignals().kernels = kernels;
  StateOfSignals().deferred = true;
}

InterruptsDeferred::~InterruptsDeferred() {
  StateOfSignals().deferred = false;
  StateOfSignals().kernels = nullptr;
}

bool IsInterrupted() { return StateOfSignals().interrupted; }

}  // namespace dogged

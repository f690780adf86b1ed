#include "apps/dogged/run/interrupt.h"

#include <signal.h>
#include <time.h>

#include <atomic>
#include <cstdint>

#include "apps/dogged/process/errors.h"
#include "apps/dogged/process/exit_code.h"

namespace dogged {
namespace {

// Signals within this are one: timeout(1) sends its own to the process and to
// its group.
constexpr int64_t kOneSignalNs = 300'000'000;

// All that the handler knows.
struct State {
  std::atomic<const char*> words{""};
  std::atomic<bool> deferred{false};
  std::atomic<int64_t> first_ns{0};  // of an interrupt; 0: none yet
  std::atomic<const KernelSource*> kernels{nullptr};
};

State& StateOfInterrupts() {
  static State state;
  return state;
}

// For signal handlers as well, which the Clock port is not.
int64_t NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

extern "C" void HandleInterrupt(int) {
  State& state = StateOfInterrupts();
  const int64_t now = NowNs();
  int64_t before = 0;
  const bool first = state.first_ns.compare_exchange_strong(before, now) ||
                     now - before < kOneSignalNs;
  if (const KernelSource* kernels = state.kernels.load()) {
    kernels->Interrupt();
  }
  if (state.deferred && first) return;
  EndWith(state.deferred ? "interrupted twice\n" : state.words.load(),
          ExitCode::kInterrupted);
}

}  // namespace

void CatchInterrupts(const char* words) {
  StateOfInterrupts().words = words;
  struct sigaction action = {};
  action.sa_handler = HandleInterrupt;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    // A signal that the parent ignores, as nohup does, stays ignored.
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

InterruptsDeferred::InterruptsDeferred(const KernelSource* kernels) {
  StateOfInterrupts().kernels = kernels;
  StateOfInterrupts().deferred = true;
}

InterruptsDeferred::~InterruptsDeferred() {
  StateOfInterrupts().deferred = false;
  StateOfInterrupts().kernels = nullptr;
}

bool IsInterrupted() { return StateOfInterrupts().first_ns != 0; }

}  // namespace dogged

// Ctrl-C, SIGTERM and SIGHUP while `dogged run` is at work: it prints the
// stopped run and exits with 130. Own agents end with their parent.
#ifndef DOGGED_APPS_DOGGED_RUN_INTERRUPT_H_
#define DOGGED_APPS_DOGGED_RUN_INTERRUPT_H_

#include "apps/dogged/agent/kernel_source.h"

namespace dogged {

// From now on an interrupt ends the process at once, after writing `words`,
// which live for ever. To be called again when other words are true.
void CatchInterrupts(const char* words);

// While one lives the first interrupt only sets a flag, for a loop that asks
// IsInterrupted() and ends orderly. The next one ends the process, unless it
// comes at the same moment.
class InterruptsDeferred {
 public:
  // Ends the compiler that `kernels` may be running, if not null.
  explicit InterruptsDeferred(const KernelSource* kernels = nullptr);
  ~InterruptsDeferred();
  InterruptsDeferred(const InterruptsDeferred&) = delete;
  InterruptsDeferred& operator=(const InterruptsDeferred&) = delete;
};

// An interrupt came while they were deferred.
bool IsInterrupted();

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_INTERRUPT_H_

// FlopsTime: how long workers were busy with tasks that declare no operations,
// such as making a matrix, beside tasks that do: a rate of operations is that
// of the latter.
#ifndef DOGGED_APPS_DOGGED_RUN_FLOPS_TIME_H_
#define DOGGED_APPS_DOGGED_RUN_FLOPS_TIME_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/program.h"

namespace dogged {

class FlopsTime {
 public:
  // Times the kernels of `table` that declare no flops, if some others do. It
  // outlives the table.
  void Watch(const Program& program, const KernelRegistry& registry,
             KernelTable& table);
  // The part of `elapsed` that so many workers had for the other kernels.
  absl::Duration LeftOf(absl::Duration elapsed, int workers) const;

 private:
  class Timed;

  SystemClock clock_;
  std::atomic<int64_t> nanoseconds_{0};
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_FLOPS_TIME_H_

// A factorisation of apps/ as the benchmark runs it: the program's own text,
// its input made before the clock starts.
#ifndef DOGGED_APPS_DOGGED_BENCH_FACTOR_RUN_H_
#define DOGGED_APPS_DOGGED_BENCH_FACTOR_RUN_H_

#include <cstdint>
#include <string>

#include "runtime/graph/job.h"
#include "runtime/graph/kernel.h"

namespace dogged {

class FactorRun {
 public:
  // apps/NAME/NAME.dog for a matrix of order `n`. `registry` outlives this.
  FactorRun(const std::string& name, int64_t n, int64_t tile_size,
            const KernelRegistry& registry);
  // Seconds from the first task to the last result on `workers`. The input is
  // made anew each time, before that.
  double Run(int workers);

 private:
  Job job_;
  KernelTable kernels_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_FACTOR_RUN_H_

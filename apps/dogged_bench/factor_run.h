// A factorisation of apps/ as the benchmark runs it: the program's own text,
// its input made before the clock starts.
#ifndef DOGGED_APPS_DOGGED_BENCH_FACTOR_RUN_H_
#define DOGGED_APPS_DOGGED_BENCH_FACTOR_RUN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/base/value.h"
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

  // Seconds that `workers` would take if they did nothing but kernels, each at
  // the rate of its largest call repeated, whose tiles are then in cache: the
  // bound that tile kernels set. Measured on all workers at once.
  double KernelBoundSeconds(int workers);

  // Time and operations of all kernels of one name, in all runs so far.
  struct KernelTime {
    double seconds = 0;  // of processor time, as far as nobody interferes
    double flops = 0;
  };
  const std::map<std::string, KernelTime>& kernel_times() const {
    return times_;
  }
  // Seconds that workers had, over all runs so far. The time that is not in
  // kernel_times() they waited, or spent on scheduling and digests.
  double worker_seconds() const { return worker_seconds_; }

  // A kernel's calls: their operations, and a copy of the largest.
  struct Calls {
    double flops = 0;
    double largest_flops = 0;
    Task largest;
    std::vector<Value> inputs;
    size_t output_count = 0;
  };

 private:
  using Wrap = absl::FunctionRef<std::unique_ptr<Kernel>(
      const Kernel& inner, const std::string& name)>;

  // As Run(), with a wrapper around each kernel.
  double RunWrapped(int workers, Wrap wrap);

  Job job_;
  KernelTable kernels_;
  std::map<std::string, KernelTime> times_;
  double worker_seconds_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_FACTOR_RUN_H_

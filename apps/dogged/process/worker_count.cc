#include "apps/dogged/process/worker_count.h"

#include <algorithm>

#include "runtime/exec/cpu_layout_hwloc.h"

namespace dogged {

int WorkersPerAgent(int workers, int agents) {
  if (workers > 0) return workers;
  const auto cpus = static_cast<int>(ReadCpuLayout().cpus.size());
  return std::max(1, cpus / std::max(1, agents));
}

}  // namespace dogged

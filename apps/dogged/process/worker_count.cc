#include "apps/dogged/process/worker_count.h"

#include <algorithm>

#include "apps/dogged/process/cgroup_limits.h"
#include "runtime/exec/cpu_layout_hwloc.h"

namespace dogged {

int WorkersPerAgent(int workers, int agents) {
  if (workers > 0) return workers;
  auto cpus = static_cast<int>(ReadCpuLayout().cpus.size());
  const double limit = ReadCgroupLimits().processors;
  if (limit > 0 && limit < cpus) cpus = static_cast<int>(limit);
  return std::max(1, cpus / std::max(1, agents));
}

}  // namespace dogged
